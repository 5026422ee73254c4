//! Compilers of HLSL reject a store to a component of a vector whose index is known only at run time (FXC, error X3500), and
//! naga translates such stores as they are.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Block, Expression, Function, Handle, Module, Statement, TypeInner};

/// Panics if a module stores to such a component.
pub fn assert_no_component_at_run_time(module: &Module, info: &ModuleInfo, name: &str) {
    let functions = module.functions.iter();
    let functions = functions.map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
    for (function, info) in functions.chain(entries) {
        let find = Find { module, function, info };
        assert!(
            !find.is_in(&function.body),
            "{name}: {:?} stores to a component of a vector",
            function.name
        );
    }
}

struct Find<'a> {
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
}

impl Find<'_> {
    fn is_in(&self, block: &Block) -> bool {
        block.iter().any(|statement| match statement {
            Statement::Store { pointer, .. } => self.is_component(*pointer),
            Statement::Block(block) => self.is_in(block),
            Statement::If { accept, reject, .. } => self.is_in(accept) || self.is_in(reject),
            Statement::Switch { cases, .. } => cases.iter().any(|case| self.is_in(&case.body)),
            Statement::Loop { body, continuing, .. } => self.is_in(body) || self.is_in(continuing),
            _ => false,
        })
    }

    /// Whether a pointer leads to a component of a vector, by an index that is known only at run time.
    fn is_component(&self, pointer: Handle<Expression>) -> bool {
        let Expression::Access { base, .. } = self.function.expressions[pointer] else {
            return false;
        };
        match self.info[base].ty.inner_with(&self.module.types) {
            TypeInner::Pointer { base, .. } => matches!(self.module.types[*base].inner, TypeInner::Vector { .. }),
            TypeInner::ValuePointer { size, .. } => size.is_some(),
            _ => false,
        }
    }
}
