package dev.warpwright.sim.region;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Writes the class that executes a {@link RegionPlan}: a method for what a block does, and one for
 * each region, which is a loop over the block's threads.
 */
final class RegionEmitter {
  static final String ENTRY = "block";
  static final ClassDesc STATE = ClassDesc.ofDescriptor(RegionState.class.descriptorString());
  static final MethodTypeDesc ENTRY_TYPE =
      MethodTypeDesc.of(CD_void, STATE, CD_int, CD_int, CD_int);

  private final RegionPlan plan;
  private final Set<Buffer> written;
  private final ClassDesc self =
      ClassDesc.of(RegionEmitter.class.getPackageName(), "GeneratedRegions");
  private final List<RegionPlan.Region> regions = new ArrayList<>();

  /**
   * @param written global buffers that the kernel writes
   */
  RegionEmitter(RegionPlan plan, Set<Buffer> written) {
    this.plan = plan;
    this.written = Collections.newSetFromMap(new IdentityHashMap<>());
    this.written.addAll(written);
  }

  byte[] emit() {
    return ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG)
        .build(
            self,
            builder -> {
              builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
              builder.withMethodBody(ENTRY, ENTRY_TYPE, ClassFile.ACC_STATIC, this::entry);
              for (RegionPlan.Region region : regions) {
                write(builder, region);
              }
            });
  }

  private static MethodTypeDesc type(RegionPlan.Region region) {
    List<ClassDesc> types = new ArrayList<>();
    types.add(STATE);
    region.uniforms().forEach(v -> types.add(CD_int));
    return MethodTypeDesc.of(CD_void, types);
  }

  private static String name(RegionPlan.Region region) {
    return "region" + region.number();
  }

  private void entry(CodeBuilder code) {
    RegionCode uniform = new RegionCode(code, plan, written);
    for (ThreadBinding binding : plan.kernel().bindings()) {
      ThreadAxis axis = binding.axis();
      if (axis.isBlock()) {
        uniform.bind(binding.var(), 1 + axis.dimension());
      }
    }
    int number = 0;
    for (Param param : plan.kernel().params()) {
      if (param instanceof ScalarParam scalar) {
        code.aload(0)
            .getfield(STATE, "scalars", CD_int.arrayType())
            .loadConstant(number++)
            .iaload()
            .istore(uniform.declare(scalar.var()));
      }
    }
    node(plan.root(), code, uniform);
    code.return_();
  }

  private void node(RegionPlan.Node node, CodeBuilder code, RegionCode uniform) {
    switch (node) {
      case RegionPlan.Region region -> {
        regions.add(region);
        code.aload(0);
        region.uniforms().forEach(v -> code.iload(uniform.slot(v)));
        code.invokestatic(self, name(region), type(region));
      }
      case RegionPlan.Sequence(var nodes) -> nodes.forEach(n -> node(n, code, uniform));
      case RegionPlan.Barrier() ->
          code.aload(0).invokevirtual(STATE, "nextRegion", MethodTypeDesc.of(CD_void));
      case RegionPlan.Loop(Stmt.For loop, var body) ->
          uniform.loop(loop, () -> node(body, code, uniform));
      case RegionPlan.Branch(var condition, var then, var otherwise) ->
          uniform.branch(
              condition, () -> node(then, code, uniform), () -> node(otherwise, code, uniform));
      case RegionPlan.Uniform(Var v, var value, var body) -> {
        uniform.let(v, value);
        node(body, code, uniform);
      }
      case RegionPlan.Fresh(int buffer, var body) -> {
        code.aload(0)
            .loadConstant(buffer)
            .invokevirtual(STATE, "poison", MethodTypeDesc.of(CD_void, CD_int));
        node(body, code, uniform);
      }
    }
  }

  /** A region: a loop over threads. */
  private void write(ClassBuilder builder, RegionPlan.Region region) {
    builder.withMethodBody(
        name(region),
        type(region),
        ClassFile.ACC_STATIC,
        code -> {
          RegionCode thread = new RegionCode(code, plan, written);
          for (int i = 0; i < region.uniforms().size(); i++) {
            thread.bind(region.uniforms().get(i), i + 1);
          }
          thread.openBuffers(region);
          int t = code.allocateLocal(TypeKind.INT);
          Label next = code.newLabel();
          Label end = code.newLabel();
          code.iconst_0().istore(t).labelBinding(next);
          code.iload(t).loadConstant(plan.threads()).if_icmpge(end);
          thread.beginThread(t);
          region.lets().forEach(let -> thread.let(let.var(), let.value()));
          thread.statement(region.body());
          code.iinc(t, 1).goto_(next).labelBinding(end).return_();
        });
  }
}
