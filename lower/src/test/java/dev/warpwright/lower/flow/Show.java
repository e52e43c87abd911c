package dev.warpwright.lower.flow;
import dev.warpwright.ir.*; import dev.warpwright.ir.text.*; import dev.warpwright.lower.tile.*; import dev.warpwright.lower.pass.*; import dev.warpwright.ir.verify.*;
public class Show { public static void main(String[] a) {
  for (PrimFunc f : java.util.List.of(FlowPrograms.gemm(256,512,256,128,256,64,4,0,2,FlowPrograms.STAGED), FlowPrograms.network("f16",128,2,3,true,3))) {
  System.out.println(Verifier.verify(f));
  PrimFunc g = PrefetchItems.apply(AssignRoles.apply(PlanPipes.apply(f)));
  System.out.println(IrPrinter.text(g)); System.out.println(Verifier.verify(g)); } } }
