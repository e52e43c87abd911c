#!/usr/bin/env python3
"""Random fully connected networks: how good is the way that is taken without measuring?

  random_networks.py draw SEED COUNT [MOST_ROWS]   prints tasks of 'warpwright perf', the same for a seed; a date is a good one
  random_networks.py table FILE…                   reads what 'warpwright perf TASK --all --untuned --json' said, one object a line,
                                                   and prints the untuned time beside the best way's, and how often it is the best
  random_networks.py curves FILE…                  reads what 'warpwright tune TASK --json' said, one object a line, and prints after
                                                   how many trials and seconds each search had 95 % of the speed that it ended with,
                                                   and the best time beside the untuned one

Widths are 16 to 256, half of the networks of one width and half mixed, 2 to 12 weight matrices, 2^10 to 2^20 rows, f16 and bf16,
with bias and without. Exit code 1 if any ratio of best to untuned is below 0.9, or a search took more than 32 trials or 30 seconds.
"""
import json
import math
import random
import sys

ACTIVATIONS = ["relu", "gelu", "silu", "tanh", "sin"]
LEAST = 0.9
NEAR = 0.95
MOST_TRIALS = 32
MOST_SECONDS = 30


def draw(seed, count, most):
    source = random.Random(seed)
    for _ in range(count):
        layers = source.randint(2, 12)
        if source.random() < 0.5:
            widths = [16 * source.randint(1, 16)] * (layers + 1)
        else:
            widths = [source.randint(16, 256) for _ in range(layers + 1)]
        if source.random() < 0.3:
            widths[0], widths[-1] = source.randint(1, 16), source.randint(1, 16)
        rows = min(2 ** source.randint(10, 20), most)
        print(
            "mlp widths=%s act=%s dtype=%s bias=%d rows=%d"
            % (
                ",".join(map(str, widths)),
                source.choice(ACTIVATIONS),
                source.choice(["f16", "bf16"]),
                source.randint(0, 1),
                rows,
            )
        )


def results(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in filter(str.strip, lines):
                said = json.loads(line)
                yield from said.get("results", [said])


def summary(ratios):
    """Of best times to untuned ones: how many are below what is asked, and a text."""
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    below = sum(ratio < LEAST for ratio in ratios)
    return below, "best to untuned %.3f (geometric mean), %.2f at worst, %d below %.1f" % (
        mean,
        min(ratios),
        below,
        LEAST,
    )


def table(paths):
    ratios = []
    wrong = 0
    for result in results(paths):
        task = result["workload"].removeprefix("mlp ")
        ways = [(peer["timeUs"], peer["name"]) for peer in result.get("peers", []) if "timeUs" in peer]
        failed = [peer["name"] for peer in result.get("peers", []) if not peer.get("verified")]
        wrong += len(failed) + (not result.get("verified"))
        if "timeUs" not in result:
            print("%s: not measured: %s" % (task, result.get("failure")))
            continue
        untuned = result["timeUs"]
        best, name = min(ways + [(untuned, result["strategy"])])
        ratios.append(best / untuned)
        print(
            "%5.2f  %8.2f us untuned (%s)  %8.2f us best of %d (%s)  bound %.2f  %s"
            % (best / untuned, untuned, result["strategy"], best, len(ways) + 1, name, result["boundUs"], task)
        )
        for way in failed:
            print("       NOT VERIFIED: %s" % way)
    if not ratios:
        sys.exit("nothing was measured")
    below, text = summary(ratios)
    print("%d networks: %s; %d not verified" % (len(ratios), text, wrong))
    sys.exit(1 if below or wrong else 0)


def curves(paths):
    trials, seconds, ratios = [], [], []
    for result in results(paths):
        curve = result.get("curve")
        if not curve:
            print("%s: not tuned: %s" % (result["workload"], result.get("failure")))
            continue
        final = min(step["timeUs"] for step in curve)
        near = next(step for step in curve if final >= NEAR * step["timeUs"])
        trials.append(near["trial"])
        seconds.append(near["seconds"])
        untuned, best = result.get("untunedUs"), result["timeUs"]
        if untuned:
            ratios.append(best / untuned)
        print(
            "%s  %3d trials %6.1f s to %.2f us, untuned %8.2f us, best %8.2f us (%s) after %d trials, %.0f s  %s"
            % (
                "%.2f" % ratios[-1] if untuned else "none",
                near["trial"],
                near["seconds"],
                near["timeUs"],
                untuned or math.nan,
                best,
                result["strategy"],
                result["trials"],
                result["seconds"],
                result["workload"].removeprefix("mlp "),
            )
        )
    if not trials:
        sys.exit("nothing was tuned")
    middle = len(trials) // 2
    print(
        "%d searches to %.0f %%: %d trials in the median, %d at most; %.1f s in the median, %.1f at most"
        % (len(trials), 100 * NEAR, sorted(trials)[middle], max(trials), sorted(seconds)[middle], max(seconds))
    )
    below = 0
    if ratios:
        below, text = summary(ratios)
        print("%d networks: %s" % (len(ratios), text))
    sys.exit(1 if below or max(trials) > MOST_TRIALS or max(seconds) > MOST_SECONDS else 0)


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "draw":
        draw(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 20)
    elif len(sys.argv) >= 3 and sys.argv[1] == "table":
        table(sys.argv[2:])
    elif len(sys.argv) >= 3 and sys.argv[1] == "curves":
        curves(sys.argv[2:])
    else:
        sys.exit(__doc__)
