//! cranelift-jit: code of many modules in one space near the functions that it calls, against its own provider, which maps
//! memory for each.

use crate::glue::cranelift::Memory;
use clients::table::{Effort, Row, Unit, compare, count};
use clients::{Answer, process};
use cranelift_codegen::ir::{AbiParam, InstBuilder, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use freehold_vmalloc::code::CodeSpace;
use std::mem::ManuallyDrop;
use std::sync::Arc;

const MODULES: usize = 2_000;
/// Mappings that these may add.
const MOST_MAPPINGS: u64 = 10;

/// Where code goes: a space of ours, or the JIT's own provider.
struct Side {
    isa: OwnedTargetIsa,
    space: Option<Arc<CodeSpace>>,
}

/// A module with one function.
struct Compiled {
    module: JITModule,
    function: extern "C" fn(i64) -> i64,
    number: i64,
}

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let isa = cranelift_native::builder()?.finish(settings::Flags::new(settings::builder()))?;
    let space = CodeSpace::near(libc::labs as *const (), 2 << 30, 256 << 20)?;
    let (ours, its) = (Side { isa: Arc::clone(&isa), space: Some(space) }, Side { isa, space: None });
    let (mapped_ours, mapped_its) = (mappings(&ours)?, mappings(&its)?);
    let modules = effort.of(MODULES);
    let fewer = Effort { rounds: effort.rounds.min(7), ..effort };
    let time = compare(
        fewer,
        "modules, half freed, all freed",
        modules,
        || pass(&ours, modules),
        || pass(&its, modules),
    )?;
    let rows = |what, at: fn(&Mapped) -> u64| count(what, Unit::Mappings, at(&mapped_ours), at(&mapped_its));
    Ok(vec![
        time.at_most(1.0),
        rows("mappings more, 2,000 live", |mapped| mapped.live).of_ours_at_most(MOST_MAPPINGS)?,
        rows("mappings more, half freed", |mapped| mapped.half),
        rows("mappings more, all freed", |mapped| mapped.freed).of_ours_at_most(MOST_MAPPINGS)?,
    ])
}

/// Mappings that modules add while all are live, when each second of them is freed, and when all are.
struct Mapped {
    live: u64,
    half: u64,
    freed: u64,
}

fn mappings(side: &Side) -> Answer<Mapped> {
    // What is set up once.
    pass(side, 10)?;
    let before = process::mappings()?;
    let more = || Answer::Ok(process::mappings()?.saturating_sub(before));
    let all = compiled(side, 0..MODULES)?;
    check(&all)?;
    let live = more()?;
    let kept = half_freed(all);
    check(&kept)?;
    let half = more()?;
    kept.into_iter().for_each(free);
    Ok(Mapped { live, half, freed: more()? })
}

/// Makes modules, frees each second of them, makes as many again, and frees all; those that are live are called each time.
fn pass(side: &Side, modules: usize) -> Answer<()> {
    let all = compiled(side, 0..modules / 2)?;
    check(&all)?;
    let mut kept = half_freed(all);
    check(&kept)?;
    kept.extend(compiled(side, modules / 2..modules)?);
    check(&kept)?;
    kept.into_iter().for_each(free);
    Ok(())
}

/// Frees each second module.
fn half_freed(all: Vec<Compiled>) -> Vec<Compiled> {
    let (freed, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(|compiled| compiled.number % 2 == 0);
    freed.into_iter().for_each(free);
    kept
}

fn check(all: &[Compiled]) -> Answer<()> {
    for Compiled { function, number, .. } in all {
        for argument in [-7, 0, 12_345] {
            let (answer, wanted) = (function(argument), (argument * number).abs() + number);
            if answer != wanted {
                return Err(format!("function {number} of {argument} is {answer}, not {wanted}").into());
            }
        }
    }
    Ok(())
}

#[allow(unsafe_code, reason = "the JIT's interface: code is called, and freed")]
fn free(compiled: Compiled) {
    // SAFETY: its function is not called any more.
    unsafe { compiled.module.free_memory() }
}

fn compiled(side: &Side, numbers: std::ops::Range<usize>) -> Answer<Vec<Compiled>> {
    let mut context = FunctionBuilderContext::new();
    numbers.map(|number| compile(side, number as i64, &mut context)).collect()
}

/// `number + labs(number * argument)`, with the library's `labs`.
fn compile(side: &Side, number: i64, parts: &mut FunctionBuilderContext) -> Answer<Compiled> {
    let mut builder = JITBuilder::with_isa(Arc::clone(&side.isa), default_libcall_names());
    builder.symbol("labs", libc::labs as *const u8);
    if let Some(space) = &side.space {
        builder.memory_provider(Box::new(Memory(ManuallyDrop::new(space.module()))));
    }
    let mut module = JITModule::new(builder);
    let mut signature = module.make_signature();
    signature.params.push(AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    let labs = module.declare_function("labs", Linkage::Import, &signature)?;
    let name = module.declare_function("function", Linkage::Export, &signature)?;
    let mut context = module.make_context();
    context.func.signature = signature;
    let labs = module.declare_func_in_func(labs, &mut context.func);
    let mut code = FunctionBuilder::new(&mut context.func, parts);
    let block = code.create_block();
    code.append_block_params_for_function_params(block);
    code.switch_to_block(block);
    let argument = code.block_params(block)[0];
    let product = code.ins().imul_imm_s(argument, number);
    let call = code.ins().call(labs, &[product]);
    let distance = code.inst_results(call)[0];
    let sum = code.ins().iadd_imm_s(distance, number);
    code.ins().return_(&[sum]);
    code.seal_all_blocks();
    code.finalize(side.isa.frontend_config());
    module.define_function(name, &mut context)?;
    module.finalize_definitions()?;
    let start = module.get_finalized_function(name);
    #[allow(unsafe_code, reason = "code is called")]
    // SAFETY: the function has this signature, and is called while its module lives.
    let function = unsafe { std::mem::transmute::<*const u8, extern "C" fn(i64) -> i64>(start) };
    Ok(Compiled { module, function, number })
}
