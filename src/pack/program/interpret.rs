//! Programs run on the CPU, for tests and for those who have no device.

use std::ops::{Add, Mul, Neg};

use super::Program;
use super::ir::{Instruction, Operation, Register, Source};
use crate::error::{Error, Result};

/// What a register holds.
type Quad<T> = [T; 4];

/// A kind of float to compute with.
trait Real: Copy + Default + From<f32> + Add<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {}

impl Real for f32 {}
impl Real for f64 {}

impl Program {
    /// Runs it in 32 bits, as the machine does: every product and every sum is rounded, a MAD twice, a DP4 adds its four
    /// products from x to w. `x`, `b` and the result are in the order of the unknowns; trivial b_i are not read.
    ///
    /// A device may fuse a MAD, flushes what lies below the normal range, and keeps to the same bounds.
    ///
    /// *Errors*: [`Error::LengthMismatch`] for `x` and `b`; as [`verify`](Self::verify).
    pub fn run_f32(&self, x: &[f32], b: &[f32]) -> Result<Vec<f32>> {
        self.run_in(x, b)
    }

    /// Runs it in 64 bits. The constants are those of the program, of 32 bits.
    ///
    /// *Errors*: as [`run_f32`](Self::run_f32).
    ///
    /// ```
    /// use texla::pack::{LowerOptions, Order, Packing, Program, instances};
    /// let path = instances::poisson_2d_s8()?; // x_i = b_i - (x_(i-1) + x_(i+1)) / 4
    /// let packing = Packing::symmetric(Order::new(8, &[0, 3, 4, 7, 1, 2, 5, 6])?);
    /// let program = Program::lower(&path, &packing, LowerOptions::default())?;
    /// let x: Vec<f64> = (0..8).map(f64::from).collect();
    /// let y = program.run(&x, &[10.0; 8])?;
    /// assert_eq!((program.counts().total(), y[2], y[5]), (4, 9.0, 7.5));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn run(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        self.run_in(x, b)
    }

    fn run_in<T: Real>(&self, x: &[T], b: &[T]) -> Result<Vec<T>> {
        self.verify()?;
        let op = "Program::run";
        for (operand, found) in [("x", x.len()), ("b", b.len())] {
            let expected = self.nontrivial.len();
            if found != expected {
                return Err(Error::LengthMismatch { op, operand, found, expected });
            }
        }
        let b: Vec<T> =
            b.iter().zip(&self.nontrivial).map(|(&b, &n)| if n { b } else { T::default() }).collect();
        let mut machine = Machine {
            temporaries: vec![Quad::default(); self.temporaries as usize],
            constants: self.constants.iter().map(|c| c.map(T::from)).collect(),
            x: quads(&self.packing.cols().packed(x)),
            b: quads(&self.packing.rows().packed(&b)),
            y: vec![Quad::default(); self.quads()],
        };
        for instruction in &self.instructions {
            machine.step(instruction);
        }
        let y: Vec<T> = machine.y.into_iter().flatten().collect();
        Ok(self.packing.rows().unpacked(&y))
    }
}

fn quads<T: Real>(values: &[T]) -> Vec<Quad<T>> {
    values.chunks(4).map(|chunk| std::array::from_fn(|k| chunk.get(k).copied().unwrap_or_default())).collect()
}

/// The register files.
struct Machine<T> {
    temporaries: Vec<Quad<T>>,
    constants: Vec<Quad<T>>,
    x: Vec<Quad<T>>,
    b: Vec<Quad<T>>,
    y: Vec<Quad<T>>,
}

impl<T: Real> Machine<T> {
    fn step(&mut self, instruction: &Instruction) {
        let each = |f: &dyn Fn(usize) -> T| std::array::from_fn(f);
        let value: Quad<T> = match &instruction.operation {
            Operation::Mov(a) | Operation::Tex(a) => self.read(a),
            Operation::Add(a, b) => {
                let (a, b) = (self.read(a), self.read(b));
                each(&|k| lane(&a, k) + lane(&b, k))
            }
            Operation::Mul(a, b) => {
                let (a, b) = (self.read(a), self.read(b));
                each(&|k| lane(&a, k) * lane(&b, k))
            }
            Operation::Mad(a, b, c) => {
                let (a, b, c) = (self.read(a), self.read(b), self.read(c));
                each(&|k| lane(&a, k) * lane(&b, k) + lane(&c, k))
            }
            Operation::Dp4(a, b) => {
                let (a, b) = (self.read(a), self.read(b));
                let product = |k| lane(&a, k) * lane(&b, k);
                [((product(0) + product(1)) + product(2)) + product(3); 4]
            }
        };
        let file = match instruction.target {
            Register::Temp(r) => self.temporaries.get_mut(r as usize),
            Register::Y(r) => self.y.get_mut(r as usize),
            Register::Constant(_) | Register::X(_) | Register::B(_) => None,
        };
        if let Some(register) = file {
            for (k, component) in register.iter_mut().enumerate().filter(|&(k, _)| instruction.mask.has(k)) {
                *component = lane(&value, k);
            }
        }
    }

    /// A register's components in the order of the lanes.
    fn read(&self, source: &Source) -> Quad<T> {
        let (file, r) = match source.register {
            Register::Temp(r) => (&self.temporaries, r),
            Register::Constant(r) => (&self.constants, r),
            Register::X(r) => (&self.x, r),
            Register::B(r) => (&self.b, r),
            Register::Y(r) => (&self.y, r),
        };
        let register = file.get(r as usize).copied().unwrap_or_default();
        let value = |k| lane(&register, source.swizzle.lane(k));
        std::array::from_fn(|k| if source.negate { -value(k) } else { value(k) })
    }
}

fn lane<T: Real>(quad: &Quad<T>, k: usize) -> T {
    quad.get(k).copied().unwrap_or_default()
}
