# Every target sets up what it needs by itself, also on a fresh Debian machine that has only Rust.
#
#   make demo    solve a built-in problem: progress bar, summary, convergence plot out/residual.png
#   make tables  every table and figure of the papers at small sizes, as a page; FULL=1 for theirs
#   make test    all tests
#   make ci      everything that has to pass before a merge
#   make bench   the benchmarks
#   make soak    the long runs: tests marked as ignored, all examples at full size, and fuzzing if cargo-fuzz is there
#   make mutants faults put into every shader in turn, and which tests notice them; see tests/mutants/main.rs
#   make hosts   texla inside real applications: eframe, wgpu, three-d, winit, reversed depth, the compatibility profile, several
#                contexts and threads; builds them first
#   make web     texla in a browser, as a folder of static files: out/web; web-serve serves it on this machine, and web-test tries
#                it in Chromium and Firefox; web-soak plays it for ten minutes, web-bench compares it with TensorFlow.js
#   make package the package of a registry: made, unpacked, built and tested by itself, also by the oldest Rust if that is there
#   make licences licences, sources and reported faults of what texla is built from, by cargo-deny
#   make setup   only the system packages; setup-tests those of the tests too

# A fresh Rust installation is often not yet on the PATH of a running shell.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: demo tables test ci bench soak mutants hosts web web-serve web-test web-soak web-bench package licences setup setup-tests
.DEFAULT_GOAL := test

setup:
	@.ci/setup

# Tests open windows, on a screen without a monitor.
setup-tests:
	@.ci/setup windows

# In the profile of the tests, which is built in half the time and shared with them: what is slow here is done by GL.
demo: setup
	@mkdir -p out
	cargo run --example solve -- --plot out/residual.png --json out/solve.json
	@echo "plot: out/residual.png   report: out/solve.json"

# Small sizes are for a look at everything, and likewise in the profile of the tests; those of the papers are for
# numbers. Without rasteriser threads, as below: LP_NUM_THREADS=2 measures with two.
tables: setup
	@mkdir -p out
	LP_NUM_THREADS=$${LP_NUM_THREADS-0} cargo run --all-features $(if $(FULL),--release) --example tables -- \
		$(if $(FULL),--out out/tables-full,--quick)
	@echo "page: $(if $(FULL),out/tables-full,out/tables)/index.html"

# One test at a time: llvmpipe of Mesa 22.3 crashes now and then when threads of a process take turns with contexts. And
# without rasteriser threads, which small work is slower with (see "On llvmpipe" in src/guide/host.md).
test: setup-tests
	RUST_TEST_THREADS=1 LP_NUM_THREADS=$${LP_NUM_THREADS-0} cargo test --all-features

ci:
	@.ci/run

bench: setup
	cargo bench --all-features

# Five minutes for each target of the fuzzer; what it finds to begin from stays in tests/fuzz/corpus.
soak: setup-tests
	RUST_TEST_THREADS=1 LP_NUM_THREADS=$${LP_NUM_THREADS-0} cargo test --release --all-features -- \
		--ignored --skip every_kernel_is_noticed
	@.ci/examples --release
	@.ci/fuzz 300

# Real applications around texla, on a screen without a monitor; each asserts that its frames are the same with texla and without.
# Their dependencies take minutes to build, so that CI leaves them out.
hosts:
	@.ci/setup windows hosts
	cargo build --manifest-path examples/hosts/Cargo.toml --target-dir target/hosts
	@for host in plain reverse_z compatibility one_context two_contexts shared_worker separate_worker threads three_d egui eframe wgpu; do \
		LP_NUM_THREADS=$${LP_NUM_THREADS-0} xvfb-run -a -s "-screen 0 800x600x24 -nolisten tcp" \
			target/hosts/debug/$$host || exit 1; done

# Test by test, so that a fault costs no more than the first test that notices it.
mutants: setup-tests
	cargo test --all-features --tests --no-run
	LP_NUM_THREADS=$${LP_NUM_THREADS-0} cargo test --all-features --test mutants -- \
		--ignored --nocapture every_kernel_is_noticed

# With a compiler for browsers of its own, where the one that is there has none.
web: setup
	@.ci/web

web-serve: web
	@target/web/tools/debug/serve out/web

web-test: web
	@.ci/web-test

web-soak: web
	@.ci/web-test --soak

web-bench: web
	@.ci/web-test --bench

package: setup
	@.ci/package

# The list of reported faults is fetched: without a network the rest is still checked.
licences:
	@if cargo deny --version >/dev/null 2>&1; then \
		cargo deny check licenses bans sources && \
		if cargo deny fetch >/dev/null 2>&1; then cargo deny check advisories; \
		else echo "reported faults: not checked, their list could not be fetched"; fi; \
	else echo "cargo-deny is not installed: tests/package.rs has the licences of what users build"; fi
