//! What one attaches to a report on a fault: the context, what probing found of the device, its quirks, and its profile.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use capabilities::Found;
use fetching::Fetching;
use support::ceiling::Ceiling;
use support::clock::Rounds;
use support::json;
use support::{CommonArgs, Report, Result, Table, say, write_file};
use texla::profile::DeviceProfile;
use texla::{Vector, ops};

#[path = "support/capabilities.rs"]
mod capabilities;
#[path = "jacobi_ladder/fetching.rs"]
mod fetching;
mod support;

/// Context, capabilities, quirks and profile of the device, to be attached to a report.
#[derive(clap::Parser)]
#[command(name = "info")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Write the profile as text, which `DeviceProfile` reads back; with --quick its numbers are rough
    #[arg(long, value_name = "F.txt")]
    profile: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("info", run)
}

/// What changes the device that one gets, or how it runs.
const VARIABLES: [&str; 11] = [
    "TEXLA_DEVICE",
    "TEXLA_API",
    "LP_NUM_THREADS",
    "LP_NATIVE_VECTOR_WIDTH",
    "GALLIUM_DRIVER",
    "LIBGL_ALWAYS_SOFTWARE",
    "MESA_LOADER_DRIVER_OVERRIDE",
    "MESA_GL_VERSION_OVERRIDE",
    "MESA_GLSL_VERSION_OVERRIDE",
    "MESA_GLES_VERSION_OVERRIDE",
    "__EGL_VENDOR_LIBRARY_FILENAMES",
];

fn run(args: &Args, report: &mut Report) -> Result {
    let context = args.common.headless(report)?;
    let device = context.device();
    let caps = device.capabilities();
    let mut table = Table::new(["context", ""]);
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    for (name, value) in [
        ("texla", env!("CARGO_PKG_VERSION")),
        ("system", &system),
        ("device", context.name()),
        ("vendor", &caps.vendor),
        ("renderer", &caps.renderer),
        ("version", &caps.version),
        ("api", &device.api().to_string()),
    ] {
        table.row([name, value]);
    }
    let set = VARIABLES.iter().filter_map(|name| Some((*name, std::env::var(name).ok()?)));
    let set: Vec<(&str, String)> = set.collect();
    for (name, value) in &set {
        table.row([*name, value]);
    }
    table.print();
    report.set("system", system).set("environment", object(set));

    let found: Vec<(&str, serde_json::Value)> =
        capabilities::list(&caps).into_iter().map(|(name, found)| (name, value(found))).collect();
    let mut table = Table::new(["capability", "found by probing"]);
    for (name, value) in &found {
        table.row([(*name).to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)]);
    }
    say("");
    table.print();
    let probed = device.counters();
    let probing =
        json!({ "draws": probed.draws, "readbacks": probed.readbacks, "compiles": probed.compiles });
    say(format_args!(
        "probing took {} draws, {} readbacks, {} programs",
        probed.draws, probed.readbacks, probed.compiles
    ));
    report.set("capabilities", object(found)).set("probing", probing);

    let quirks = capabilities::quirks(&caps);
    say("");
    let none = ["quirks: none".to_owned()];
    let lines: Vec<String> = quirks.iter().map(|quirk| format!("quirk: {quirk}")).collect();
    (if lines.is_empty() { &none[..] } else { &lines }).iter().for_each(say);
    report.set("quirks", quirks);

    let profile = match args.common.quick {
        true => DeviceProfile::measure_within(device, Duration::ZERO)?,
        false => DeviceProfile::measure(device)?,
    };
    let text = profile.to_string();
    say(format_args!("\n{}", text.trim_end()));
    if let Some(path) = &args.profile {
        write_file(path, text.as_bytes())?;
    }
    for line in text.lines().skip(3) {
        let (name, seconds) = line.split_once(" = ").unwrap_or((line, ""));
        report.row(json!({ "name": name, "value": seconds.parse::<f64>().ok() }));
    }

    let (n, rounds) = if args.common.quick { (1 << 16, 3) } else { (1 << 22, 7) };
    let ceiling = Ceiling::measure(device, n, rounds)?;
    let mut fetching = Fetching::new(device, n)?;
    let fetched = (0..rounds).map(|_| fetching.rate(device, 0.01)).collect::<Result<Rounds>>()?.median();
    let mut table = Table::new(["the best draw that only", "Gfloat/s"]);
    let mut ceilings = Vec::new();
    for (draw, rate) in [
        ("writes", n as f64 / ceiling.write),
        ("reads", n as f64 / ceiling.read),
        ("fetches what its neighbours fetch", 4.0 * fetched),
    ] {
        table.row([draw, &format!("{:.2}", 1e-9 * rate)]);
        ceilings.push(json!({ "draw": draw, "gfloats": 1e-9 * rate }));
    }
    say("");
    table.print();
    report.set("ceilings", ceilings);

    // A device that gets this wrong is what the report is about.
    let x = Vector::filled(device, 10_000, 0.5)?;
    report.at_most("error of a sum", 0.0, (ops::sum(&x)?.read()? - 5000.0).abs());
    let differs = text.parse::<DeviceProfile>()? != profile;
    report.at_most("the profile's text reads back as another", 0.0, f64::from(u8::from(differs)));
    Ok(())
}

fn object<V: Into<serde_json::Value>>(of: impl IntoIterator<Item = (&'static str, V)>) -> serde_json::Value {
    of.into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn value(found: Found) -> serde_json::Value {
    match found {
        Found::Flag(flag) => json!(flag),
        Found::Number(number) => json!(number),
        Found::Word(word) => json!(word),
    }
}
