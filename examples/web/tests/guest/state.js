// All that a context answers, and values of it that are set against texla.

/** Numbers and names that a context or an extension of it has a constant for. */
function constants(gl) {
  const found = new Map();
  for (const from of [gl, ...gl.getSupportedExtensions().map((name) => gl.getExtension(name))]) {
    for (let at = from; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const name of Object.getOwnPropertyNames(at).filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name))) {
        if (typeof from[name] === "number" && !found.has(from[name])) found.set(from[name], name);
      }
    }
  }
  return found;
}

/** What there is to ask for; asking for anything else is an error, which the console complains of. */
export function questions(gl) {
  const named = constants(gl);
  // How pixels are read best is an error where nothing can be read.
  const answers = (ask) => [...named].filter(([value, name]) => {
    ask(value);
    return gl.getError() === gl.NO_ERROR && !name.startsWith("IMPLEMENTATION_COLOR_READ");
  });
  return {
    parameters: answers((value) => gl.getParameter(value)),
    switches: answers((value) => gl.isEnabled(value)),
    indexed: answers((value) => gl.getIndexedParameter(value, 0)),
  };
}

/** Names of objects that can be compared. */
const names = new WeakMap();
let count = 0;
function plain(value) {
  if (value === null || typeof value !== "object") return value;
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return [...value].join();
  if (!names.has(value)) names.set(value, `${value.constructor.name} ${count += 1}`);
  return names.get(value);
}

/** What queries count. */
function counting(gl) {
  const timer = gl.getExtension("EXT_disjoint_timer_query_webgl2");
  return [gl.ANY_SAMPLES_PASSED, gl.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, ...timer ? [timer.TIME_ELAPSED_EXT] : []];
}

const TARGETS = ["2D", "CUBE_MAP", "3D", "2D_ARRAY"];

/** All answers of a context, by name. Leaves everything as it is. */
export function answers(gl, { parameters, switches, indexed }) {
  const found = {};
  for (const [value, name] of parameters) found[name] = plain(gl.getParameter(value));
  for (const [value, name] of switches) found[`${name} on`] = gl.isEnabled(value);
  const most = { UNIFORM: gl.getParameter(gl.MAX_UNIFORM_BUFFER_BINDINGS), TRANSFORM: gl.getParameter(gl.MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS) };
  for (const [value, name] of indexed) {
    for (let i = 0; i < (most[name.split("_")[0]] ?? gl.getParameter(gl.MAX_DRAW_BUFFERS)); i += 1) found[`${name} ${i}`] = plain(gl.getIndexedParameter(value, i));
  }
  const unit = gl.getParameter(gl.ACTIVE_TEXTURE);
  for (let i = 0; i < gl.getParameter(gl.MAX_COMBINED_TEXTURE_IMAGE_UNITS); i += 1) {
    gl.activeTexture(gl.TEXTURE0 + i);
    for (const target of TARGETS) {
      const bound = gl.getParameter(gl[`TEXTURE_BINDING_${target}`]);
      found[`unit ${i} ${target}`] = plain(bound);
      if (bound && i < 2) {
        for (const of of ["MIN_FILTER", "MAG_FILTER", "WRAP_S", "BASE_LEVEL", "MAX_LEVEL", "COMPARE_MODE", "MIN_LOD"]) {
          found[`unit ${i} ${target} ${of}`] = gl.getTexParameter(gl[`TEXTURE_${target}`], gl[`TEXTURE_${of}`]);
        }
      }
    }
    found[`unit ${i} sampler`] = plain(gl.getParameter(gl.SAMPLER_BINDING));
  }
  gl.activeTexture(unit);
  for (let i = 0; i < gl.getParameter(gl.MAX_VERTEX_ATTRIBS); i += 1) {
    for (const of of ["CURRENT_VERTEX_ATTRIB", "VERTEX_ATTRIB_ARRAY_BUFFER_BINDING", "VERTEX_ATTRIB_ARRAY_ENABLED", "VERTEX_ATTRIB_ARRAY_SIZE", "VERTEX_ATTRIB_ARRAY_STRIDE", "VERTEX_ATTRIB_ARRAY_TYPE", "VERTEX_ATTRIB_ARRAY_NORMALIZED", "VERTEX_ATTRIB_ARRAY_INTEGER", "VERTEX_ATTRIB_ARRAY_DIVISOR"]) {
      found[`attribute ${i} ${of}`] = plain(gl.getVertexAttrib(i, gl[of]));
    }
    found[`attribute ${i} offset`] = gl.getVertexAttribOffset(i, gl.VERTEX_ATTRIB_ARRAY_POINTER);
  }
  for (const target of ["DRAW", "READ"]) {
    if (!gl.getParameter(gl[`${target}_FRAMEBUFFER_BINDING`])) continue;
    for (const attachment of ["COLOR_ATTACHMENT0", "COLOR_ATTACHMENT1", "DEPTH_ATTACHMENT", "STENCIL_ATTACHMENT"]) {
      const ask = (of) => plain(gl.getFramebufferAttachmentParameter(gl[`${target}_FRAMEBUFFER`], gl[attachment], gl[`FRAMEBUFFER_ATTACHMENT_${of}`]));
      const kind = ask("OBJECT_TYPE");
      found[`${target} ${attachment}`] = kind === gl.NONE ? kind : [kind, ask("OBJECT_NAME"), ...kind === gl.TEXTURE ? [ask("TEXTURE_LEVEL"), ask("TEXTURE_LAYER"), ask("TEXTURE_CUBE_MAP_FACE")] : []].join(" ");
    }
  }
  for (const query of counting(gl)) found[`query ${query}`] = plain(gl.getQuery(query, gl.CURRENT_QUERY));
  const program = gl.getParameter(gl.CURRENT_PROGRAM);
  if (program) {
    const at = gl.getUniformLocation(program, "weight");
    found.uniform = at && plain(gl.getUniform(program, at));
  }
  return found;
}

/** What differs between two such, in words. */
export const differences = (before, after) => [...new Set([...Object.keys(before), ...Object.keys(after)])]
  .filter((name) => !Object.is(before[name], after[name])).map((name) => `${name}: ${before[name]} before, ${after[name]} after`);

// Switches and their usual values.
const SWITCHES = { BLEND: false, CULL_FACE: false, DEPTH_TEST: false, DITHER: true, POLYGON_OFFSET_FILL: false, SAMPLE_ALPHA_TO_COVERAGE: false, SAMPLE_COVERAGE: false, SCISSOR_TEST: false, STENCIL_TEST: false, RASTERIZER_DISCARD: false };

// Functions, what they are called with against texla, and as it usually is; words are the context's constants.
const CALLS = [
  ["depthFunc", ["NEVER"], ["LESS"]],
  ["depthMask", [false], [true]],
  ["depthRange", [0.25, 0.5], [0, 1]],
  ["blendFuncSeparate", ["ZERO", "DST_COLOR", "SRC_ALPHA_SATURATE", "CONSTANT_ALPHA"], ["ONE", "ZERO", "ONE", "ZERO"]],
  ["blendEquationSeparate", ["MIN", "FUNC_REVERSE_SUBTRACT"], ["FUNC_ADD", "FUNC_ADD"]],
  ["blendColor", [0.1, 0.2, 0.3, 0.4], [0, 0, 0, 0]],
  ["clearColor", [0.5, 0.25, 0.125, 0.75], [0, 0, 0, 0]],
  ["clearDepth", [0.3], [1]],
  ["clearStencil", [7], [0]],
  ["colorMask", [false, true, false, false], [true, true, true, true]],
  ["stencilFuncSeparate", ["FRONT", "NEVER", 3, 5], ["FRONT", "ALWAYS", 0, 0xffffffff]],
  ["stencilFuncSeparate", ["BACK", "GREATER", 3, 5], ["BACK", "ALWAYS", 0, 0xffffffff]],
  ["stencilMask", [6], [0xffffffff]],
  ["stencilOpSeparate", ["FRONT", "INVERT", "INCR", "DECR_WRAP"], ["FRONT", "KEEP", "KEEP", "KEEP"]],
  ["stencilOpSeparate", ["BACK", "ZERO", "REPLACE", "INCR_WRAP"], ["BACK", "KEEP", "KEEP", "KEEP"]],
  ["lineWidth", [2], [1]],
  ["cullFace", ["FRONT_AND_BACK"], ["BACK"]],
  ["frontFace", ["CW"], ["CCW"]],
  ["polygonOffset", [-3, 7], [0, 0]],
  ["sampleCoverage", [0.25, true], [1, false]],
  ["scissor", [1, 2, 3, 4], [0, 0, 300, 150]],
  ["viewport", [5, 6, 7, 8], [0, 0, 300, 150]],
  ["hint", ["FRAGMENT_SHADER_DERIVATIVE_HINT", "NICEST"], ["FRAGMENT_SHADER_DERIVATIVE_HINT", "DONT_CARE"]],
  ["vertexAttrib4f", [3, 1, 2, 3, 4], [3, 0, 0, 0, 1]],
  ["vertexAttribI4i", [0, 1, 2, 3, 4], [0, 0, 0, 0, 1]],
  ...[["PACK_ALIGNMENT", 8, 4], ["PACK_ROW_LENGTH", 71, 0], ["PACK_SKIP_PIXELS", 3, 0], ["PACK_SKIP_ROWS", 2, 0], ["UNPACK_ALIGNMENT", 1, 4], ["UNPACK_ROW_LENGTH", 73, 0], ["UNPACK_IMAGE_HEIGHT", 79, 0], ["UNPACK_SKIP_PIXELS", 5, 0], ["UNPACK_SKIP_ROWS", 1, 0], ["UNPACK_SKIP_IMAGES", 1, 0], ["UNPACK_FLIP_Y_WEBGL", true, false], ["UNPACK_PREMULTIPLY_ALPHA_WEBGL", true, false], ["UNPACK_COLORSPACE_CONVERSION_WEBGL", "NONE", "BROWSER_DEFAULT_WEBGL"]]
    .map(([name, against, usual]) => ["pixelStorei", [name, against], [name, usual]]),
];

/** Objects of the application's, in odd forms. */
function objects(gl) {
  const buffer = (target, bytes) => {
    const made = gl.createBuffer();
    gl.bindBuffer(gl[target], made);
    gl.bufferData(gl[target], bytes, gl.STATIC_DRAW);
    gl.bindBuffer(gl[target], null);
    return made;
  };
  const named = ["ARRAY_BUFFER", "COPY_READ_BUFFER", "COPY_WRITE_BUFFER", "PIXEL_PACK_BUFFER", "PIXEL_UNPACK_BUFFER", "UNIFORM_BUFFER"];
  const buffers = Object.fromEntries(named.map((target) => [target, buffer(target, 4096)]));
  const ranges = buffer("UNIFORM_BUFFER", 4096);
  const textures = [0, 1].map(() => TARGETS.map((target) => {
    const [made, where] = [gl.createTexture(), gl[`TEXTURE_${target}`]];
    gl.bindTexture(where, made);
    if (/2D$|CUBE/.test(target)) gl.texStorage2D(where, 2, gl.RGBA8, 4, 4);
    else gl.texStorage3D(where, 1, gl.RGBA8, 4, 4, 4);
    gl.texParameteri(where, gl.TEXTURE_MIN_FILTER, gl.NEAREST_MIPMAP_LINEAR);
    gl.bindTexture(where, null);
    return made;
  }));
  const sampler = gl.createSampler();
  gl.samplerParameteri(sampler, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
  const vertices = gl.createVertexArray();
  gl.bindVertexArray(vertices);
  const elements = buffer("ELEMENT_ARRAY_BUFFER", 64);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, elements);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers.ARRAY_BUFFER);
  for (const i of [0, 2, 5]) {
    gl.enableVertexAttribArray(i);
    gl.vertexAttribPointer(i, 3, gl.SHORT, true, 20, 4);
    gl.vertexAttribDivisor(i, i);
  }
  gl.bindVertexArray(null);
  gl.bindBuffer(gl.ARRAY_BUFFER, null);
  // Two colours, of which the second alone is drawn to, with depth and stencil; a layer that is read; and what is not complete.
  const framebuffer = (attach) => {
    const made = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, made);
    attach();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return made;
  };
  const render = gl.createRenderbuffer();
  gl.bindRenderbuffer(gl.RENDERBUFFER, render);
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH24_STENCIL8, 4, 4);
  gl.bindRenderbuffer(gl.RENDERBUFFER, null);
  const drawn = framebuffer(() => {
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_CUBE_MAP_POSITIVE_Z, textures[0][1], 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT1, gl.TEXTURE_2D, textures[0][0], 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_STENCIL_ATTACHMENT, gl.RENDERBUFFER, render);
    gl.drawBuffers([gl.NONE, gl.COLOR_ATTACHMENT1]);
  });
  const read = framebuffer(() => {
    gl.framebufferTextureLayer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, textures[0][2], 0, 3);
    gl.readBuffer(gl.NONE);
  });
  const empty = framebuffer(() => {});
  const shader = (kind, text) => {
    const made = gl.createShader(kind);
    gl.shaderSource(made, `#version 300 es\nprecision highp float;\n${text}`);
    gl.compileShader(made);
    return made;
  };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, "uniform vec4 weight; out vec4 given; void main() { given = weight; gl_Position = vec4(0.0); }"));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, "in vec4 given; out vec4 colour; void main() { colour = given; }"));
  gl.transformFeedbackVaryings(program, ["given"], gl.SEPARATE_ATTRIBS);
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.uniform4f(gl.getUniformLocation(program, "weight"), 1, 2, 3, 4);
  gl.useProgram(null);
  const feedback = gl.createTransformFeedback();
  gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, feedback);
  gl.bindBufferRange(gl.TRANSFORM_FEEDBACK_BUFFER, 0, buffer("TRANSFORM_FEEDBACK_BUFFER", 4096), 64, 1024);
  gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
  gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
  const general = buffer("TRANSFORM_FEEDBACK_BUFFER", 256);
  return { buffers, ranges, elements, textures, sampler, vertices, render, drawn, read, empty, program, feedback, general };
}

/** Settings against texla, each with its name, how it is made and how it is ended. They can be made one by one and all together. */
export function settings(gl) {
  const of = objects(gl);
  const words = (values) => values.map((value) => (typeof value === "string" ? gl[value] : value));
  const found = [];
  const set = (name, make, end) => found.push({ name, make, end });
  for (const [name, usual] of Object.entries(SWITCHES)) {
    const put = (on) => () => (on ? gl.enable(gl[name]) : gl.disable(gl[name]));
    set(name, put(!usual), put(usual));
  }
  for (const [name, against, usual] of CALLS) set(`${name} ${against}`, () => gl[name](...words(against)), () => gl[name](...words(usual)));
  set("attributes of no vertex array", () => {
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, of.elements);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribDivisor(1, 3);
  }, () => {
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, null);
    gl.disableVertexAttribArray(1);
    gl.vertexAttribDivisor(1, 0);
  });
  set("a vertex array", () => gl.bindVertexArray(of.vertices), () => gl.bindVertexArray(null));
  // General bindings last: one of an index sets them as well.
  set("ranges of uniform buffers", () => {
    gl.bindBufferRange(gl.UNIFORM_BUFFER, 0, of.ranges, 256, 512);
    gl.bindBufferBase(gl.UNIFORM_BUFFER, 1, of.ranges);
    gl.bindBuffer(gl.UNIFORM_BUFFER, null);
  }, () => [0, 1].forEach((i) => gl.bindBufferBase(gl.UNIFORM_BUFFER, i, null)));
  for (const [target, buffer] of Object.entries(of.buffers)) set(target, () => gl.bindBuffer(gl[target], buffer), () => gl.bindBuffer(gl[target], null));
  const units = (on) => () => {
    for (let i = gl.getParameter(gl.MAX_COMBINED_TEXTURE_IMAGE_UNITS) - 1; i >= 0; i -= 1) {
      gl.activeTexture(gl.TEXTURE0 + i);
      TARGETS.forEach((target, k) => gl.bindTexture(gl[`TEXTURE_${target}`], on ? of.textures[i % 2][k] : null));
      gl.bindSampler(i, on ? of.sampler : null);
    }
  };
  set("textures and samplers on all units", units(true), units(false));
  set("unit 9", () => gl.activeTexture(gl.TEXTURE9), () => gl.activeTexture(gl.TEXTURE0));
  set("nothing drawn to the canvas", () => gl.drawBuffers([gl.NONE]), () => gl.drawBuffers([gl.BACK]));
  set("nothing read of the canvas", () => gl.readBuffer(gl.NONE), () => gl.readBuffer(gl.BACK));
  const frames = (target, name) => [() => gl.bindFramebuffer(gl[target], of[name]), () => gl.bindFramebuffer(gl[target], null)];
  set("an empty framebuffer", ...frames("FRAMEBUFFER", "empty"));
  set("an odd framebuffer drawn to", ...frames("DRAW_FRAMEBUFFER", "drawn"));
  set("an odd framebuffer read", ...frames("READ_FRAMEBUFFER", "read"));
  set("a renderbuffer", () => gl.bindRenderbuffer(gl.RENDERBUFFER, of.render), () => gl.bindRenderbuffer(gl.RENDERBUFFER, null));
  for (const target of counting(gl)) {
    const query = gl.createQuery();
    set(`a query ${target}`, () => gl.beginQuery(target, query), () => gl.endQuery(target));
  }
  const clamp = gl.getExtension("EXT_depth_clamp")?.DEPTH_CLAMP_EXT, offset = gl.getExtension("EXT_polygon_offset_clamp");
  if (clamp) set("depths clamped", () => gl.enable(clamp), () => gl.disable(clamp));
  if (offset) set("offsets clamped", () => offset.polygonOffsetClampEXT(-3, 7, 0.5), () => offset.polygonOffsetClampEXT(0, 0, 0));
  set("a general buffer of feedback", () => gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, of.general), () => gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null));
  set("a program", () => gl.useProgram(of.program), () => gl.useProgram(null));
  // Last, since a program cannot be changed while it goes on.
  const begin = () => {
    gl.useProgram(of.program);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, of.feedback);
    gl.beginTransformFeedback(gl.POINTS);
  };
  const end = () => {
    gl.endTransformFeedback();
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
    gl.useProgram(null);
  };
  set("a feedback that pauses", () => { begin(); gl.pauseTransformFeedback(); }, end);
  set("a feedback under way", begin, end);
  return found;
}

/** All of them together, but for a feedback that pauses while another one is under way; in the order in which that can be. */
export function together(settings) {
  const all = settings.filter(({ name }) => name !== "a feedback that pauses");
  return { make: () => all.forEach(({ make }) => make()), end: () => all.toReversed().forEach(({ end }) => end()) };
}
