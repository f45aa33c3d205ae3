//! wgpu on OpenGL (bevy, iced, eframe as it comes): texla works in wgpu's own context and draws into a texture of wgpu's, which wgpu
//! draws without a copy.
use std::ffi::c_void;

use texla::{Device, DeviceOptions, Picture};
use texla_hosts::guest::{Guest, SIDE};
use texla_hosts::{FRAMES, Result, SIZE, assert_identical};
use wgpu::hal::api::Gles;
use wgpu::hal::gles::TextureInner;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Triangles that turn and are blended; and a texture texel by texel, from the upper left corner.
const SHADERS: &str = "
    struct Corner { @builtin(position) at: vec4f, @location(0) colour: vec4f }
    @vertex fn corner(@builtin(vertex_index) v: u32, @builtin(instance_index) i: u32) -> Corner {
        let angle = 0.4 * f32(i) + 2.0944 * f32(v % 3u) + f32(v / 3u);
        let colour = vec4f(f32(v % 3u == 0u), f32(v % 3u == 1u), f32(v % 2u), 0.7);
        return Corner(vec4f(0.8 * cos(angle), 0.8 * sin(angle), 0.0, 1.0), colour);
    }
    @fragment fn paint(corner: Corner) -> @location(0) vec4f { return corner.colour; }

    @group(0) @binding(0) var picture: texture_2d<f32>;
    @vertex fn whole(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {
        return vec4f(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }
    @fragment fn show(@builtin(position) at: vec4f) -> @location(0) vec4f {
        return textureLoad(picture, vec2i(at.xy), 0); // outside of the picture zeros
    }";

/// Finds GL functions by name, in the EGL that wgpu has loaded.
fn loader(device: &wgpu::Device) -> impl Fn(&str) -> *const c_void + 'static {
    let device = device.clone();
    move |name| {
        // SAFETY: the device is only asked for an address.
        let hal = unsafe { device.as_hal::<Gles>() };
        let found = hal.and_then(|hal| hal.context().egl_instance()?.get_proc_address(name));
        found.map_or(std::ptr::null(), |function| function as *const c_void)
    }
}

/// Calls texla with wgpu's context current: the lock makes it so, and wgpu cannot draw while it is held.
fn with_texla<T>(device: &wgpu::Device, work: impl FnOnce() -> texla::Result<T>) -> Result<T> {
    // SAFETY: wgpu draws by OpenGL; texla leaves the context as it was.
    let hal = unsafe { device.as_hal::<Gles>() }.ok_or("wgpu does not draw with OpenGL")?;
    let _current = hal.context().lock();
    Ok(work()?)
}

/// A texture of wgpu's as a picture to draw into.
///
/// # Safety
/// wgpu's context is current, and the texture lives longer than the picture.
unsafe fn lend(device: &Device, texture: &wgpu::Texture) -> texla::Result<Picture> {
    // SAFETY: the texture is not changed here.
    let hal = unsafe { texture.as_hal::<Gles>() };
    let Some(TextureInner::Texture { raw, .. }) = hal.as_ref().map(|hal| &hal.inner) else {
        panic!("a texture that is sampled is a texture in OpenGL, too")
    };
    let raw = texla::glow::NativeTexture(raw.0); // by its number: wgpu's glow may be of another version
    // SAFETY: the caller's.
    unsafe { Picture::from_texture(device, raw, texture.width() as usize, texture.height() as usize) }
}

/// wgpu's part.
struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    triangles: wgpu::RenderPipeline,
    show: wgpu::RenderPipeline,
    target: wgpu::Texture,
}

impl Renderer {
    fn new() -> Result<Self> {
        let mut backends = wgpu::InstanceDescriptor::new_without_display_handle();
        backends.backends = wgpu::Backends::GL;
        let instance = wgpu::Instance::new(backends);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
        let source = wgpu::ShaderSource::Wgsl(SHADERS.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = |vertex, fragment| {
            let blend = Some(wgpu::BlendState::ALPHA_BLENDING);
            let state = wgpu::ColorTargetState { format: FORMAT, blend, write_mask: wgpu::ColorWrites::ALL };
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: None,
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some(vertex),
                    compilation_options: Default::default(),
                    buffers: &[],
                },
                primitive: Default::default(),
                depth_stencil: None,
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(fragment),
                    compilation_options: Default::default(),
                    targets: &[Some(state)],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let (triangles, show) = (pipeline("corner", "paint"), pipeline("whole", "show"));
        let target = texture(&device, SIZE, wgpu::TextureUsages::COPY_SRC);
        Ok(Renderer { triangles, show, target, device, queue })
    }

    /// A pass over a texture, submitted by itself.
    fn pass(
        &self,
        target: &wgpu::Texture,
        load: wgpu::LoadOp<wgpu::Color>,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let view = target.create_view(&Default::default());
        let ops = wgpu::Operations { load, store: wgpu::StoreOp::Store };
        let colour =
            wgpu::RenderPassColorAttachment { view: &view, depth_slice: None, resolve_target: None, ops };
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(colour)],
            ..Default::default()
        }));
        self.queue.submit([encoder.finish()]);
    }

    /// Frame `i`, with the guest's turn in its middle.
    fn frame(&self, i: u32, turn: &mut dyn FnMut() -> Result) -> Result<Vec<u8>> {
        let grey = wgpu::Color { r: 0.1, g: 0.2, b: 0.3, a: 1.0 };
        for (half, load) in [wgpu::LoadOp::Clear(grey), wgpu::LoadOp::Load].into_iter().enumerate() {
            self.pass(&self.target, load, |pass| {
                pass.set_pipeline(&self.triangles);
                pass.draw(3 * half as u32..3 * half as u32 + 3, i..i + 1);
            });
            if half == 0 {
                turn()?;
            }
        }
        self.pixels()
    }

    /// A frame that shows a texture.
    fn show(&self, texture: &wgpu::Texture) -> Result<Vec<u8>> {
        let view = texture.create_view(&Default::default());
        let resource = wgpu::BindingResource::TextureView(&view);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.show.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
        });
        self.pass(&self.target, wgpu::LoadOp::Clear(wgpu::Color::BLACK), |pass| {
            pass.set_pipeline(&self.show);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        });
        self.pixels()
    }

    /// The frame's pixels, row by row from the upper one.
    fn pixels(&self) -> Result<Vec<u8>> {
        let (width, height) = SIZE;
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(4 * width * height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * width), // a multiple of 256
            rows_per_image: None,
        };
        let into = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(self.target.as_image_copy(), into, self.target.size());
        self.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(buffer.get_mapped_range(..)?.to_vec())
    }
}

/// A texture that can be drawn into and sampled.
fn texture(device: &wgpu::Device, (width, height): (u32, u32), more: wgpu::TextureUsages) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING | more,
        view_formats: &[],
    })
}

fn main() -> Result {
    let renderer = Renderer::new()?;
    let frames = |turn: &mut dyn FnMut() -> Result| -> Result<Vec<_>> {
        (0..FRAMES as u32).map(|i| renderer.frame(i, turn)).collect()
    };
    let mut ways = vec![frames(&mut || Ok(()))?];

    // texla moves in when frames without it have been seen.
    let device = &renderer.device;
    let (texla, mut guest) = with_texla(device, || {
        // SAFETY: wgpu's context is current within `with_texla`, where all calls of texla's are, and its drops.
        let device = unsafe { Device::from_loader(loader(device), DeviceOptions::default()) }?;
        Ok((device.clone(), Guest::new(&device)?))
    })?;
    for in_a_scope in [false, true] {
        ways.push(frames(&mut || with_texla(device, || guest.work(in_a_scope)))?);
    }
    assert_identical("wgpu", &ways);

    let own = texture(device, (SIDE as u32, SIDE as u32), wgpu::TextureUsages::empty());
    // wgpu clears a texture at its own first use, whatever others have drawn into it. So its first use comes before texla's.
    renderer.pass(&own, wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), |_| {});
    let picture = with_texla(device, || {
        // SAFETY: as above; the texture lives longer than the picture.
        let mut lent = unsafe { lend(&texla, &own) }?;
        guest.draw_into(&mut lent)?;
        lent.read()
    })?;
    let shown = renderer.show(&own)?;
    for (i, texel) in picture.iter().enumerate() {
        let at = 4 * (i / SIDE * SIZE.0 as usize + i % SIDE);
        assert_eq!(shown[at..at + 3], texel[..3], "wgpu: texel {i}");
    }
    println!("wgpu: a texture of wgpu's is shown without a copy");
    with_texla(device, || {
        drop((guest, texla));
        Ok(())
    })
}
