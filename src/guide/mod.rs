//! How texla is built and why, chapter by chapter.
//!
//! | chapter | for whom |
//! |---|---|
//! | [`adding`] | who adds a Krylov method: its formulas as a recipe, with one that runs |
//! | [`recipes`] | who begins: short programs for what one wants to do first |
//! | [`architecture`] | who changes texla: layers, the one path of every operation, the decisions behind them |
//! | [`numerics`] | who has to trust a result: error bounds, double-float, what a solver's verdict means |
//! | [`host`] | who has an application with a GL context: what stays as it was, what does not, lifetimes |
//! | [`threads`] | who computes in one context or thread and draws in another: fences, what is true of one context only |
//! | [`engines`] | who has a host to put texla in: eframe, wgpu, winit, three-d, reversed depth, the compatibility profile |
//! | [`kernels`] | who writes a kernel: accessors, domains, masks, points |
//! | [`methods`] | who solves a system: which method and preconditioner, what they cost, how they are chosen |
//! | [`packing`] | who packs a linear expression into a shader: cost, search, proof, programs |
//! | [`registry`] | who asks which state of which GL extension is kept from results: every extension that has state |
//! | [`script`] | who writes a matrix script: grammar, functions, files, errors |
//! | [`sources`] | who comes from one of the five sources: what became of each of its numbered items |
//! | [`web`] | who has a browser's context: building, and what differs there |

#[doc = include_str!("adding.md")]
pub mod adding {}

#[doc = include_str!("architecture.md")]
pub mod architecture {}

#[doc = include_str!("numerics.md")]
pub mod numerics {}

#[doc = include_str!("host.md")]
pub mod host {}

#[doc = include_str!("threads.md")]
pub mod threads {}

#[cfg(feature = "window")]
#[doc = include_str!("engines.md")]
pub mod engines {}

#[doc = include_str!("kernels.md")]
pub mod kernels {}

#[doc = include_str!("methods.md")]
pub mod methods {}

#[cfg(feature = "pack")]
#[doc = include_str!("packing.md")]
pub mod packing {}

#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = include_str!("registry.md")]
pub mod registry {}

#[cfg(feature = "script")]
#[doc = include_str!("script.md")]
pub mod script {}

#[doc = include_str!("sources.md")]
pub mod sources {}

#[doc = include_str!("web.md")]
pub mod web {}
