// What an application of three.js' draws: the same pictures each time, with most of what three sets in a context.
import * as THREE from "./three.module.js";

export const [WIDTH, HEIGHT] = [96, 72];
/** More than texla has calls in between but for a solve, which takes as many slices as it does. */
export const FRAMES = 36;

/** Bytes that are always the same. */
const bytes = (count, seed) => Uint8Array.from({ length: count }, (_, i) => (i * 97 + seed * 31 + (i >> 3) * 13) & 255);

function texture(side, seed) {
  const made = new THREE.DataTexture(bytes(4 * side * side, seed), side, side);
  Object.assign(made, { flipY: seed % 2 === 0, premultiplyAlpha: seed % 3 === 0, generateMipmaps: true, magFilter: THREE.LinearFilter, minFilter: THREE.LinearMipmapLinearFilter, wrapS: THREE.RepeatWrapping, needsUpdate: true });
  return made;
}

/** A uniform block and two samplers, one of which has layers. */
function shader() {
  const group = new THREE.UniformsGroup();
  group.setName("Tint");
  group.add(new THREE.Uniform(new THREE.Vector4(0.9, 0.4, 0.2, 1)));
  const layers = new THREE.DataArrayTexture(bytes(4 * 4 * 4 * 3, 5), 4, 4, 3);
  layers.needsUpdate = true;
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3, uniformsGroups: [group], uniforms: { layers: { value: layers }, at: { value: 0 } },
    vertexShader: "out vec2 p; void main() { p = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "precision highp sampler2DArray; uniform sampler2DArray layers; uniform float at; uniform Tint { vec4 tint; }; in vec2 p; out vec4 colour; void main() { colour = tint * texture(layers, vec3(p, at)); }",
  });
}

/** An application on a context: `frame(k)` draws and returns all pixels, of the canvas and of what was drawn beside it. */
export function application(context) {
  const gl = new THREE.WebGLRenderer({ canvas: context.canvas, context });
  gl.setSize(WIDTH, HEIGHT, false);
  gl.shadowMap.enabled = true;
  gl.localClippingEnabled = true;
  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(50, WIDTH / HEIGHT, 0.1, 40);
  camera.position.set(0, 3, 7);
  camera.lookAt(0, 0, 0);
  const add = (geometry, material, [x, y, z], inside = scene) => {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.position.set(x, y, z);
    mesh.castShadow = mesh.receiveShadow = true;
    inside.add(mesh);
    return mesh;
  };
  const sun = new THREE.DirectionalLight(0xffffff, 2);
  sun.position.set(3, 6, 4);
  sun.castShadow = true;
  sun.shadow.mapSize.set(64, 64);
  scene.add(sun, new THREE.AmbientLight(0x404860));
  add(new THREE.PlaneGeometry(12, 12).rotateX(-Math.PI / 2), new THREE.MeshPhongMaterial({ map: texture(16, 1) }), [0, -1, 0]);
  const box = new THREE.BoxGeometry(1, 1, 1);
  const turning = [
    add(box, new THREE.MeshStandardMaterial({ map: texture(8, 2), roughness: 0.4 }), [-2, 0, 0]),
    add(new THREE.TorusKnotGeometry(0.5, 0.2, 32, 6), new THREE.MeshNormalMaterial({ clippingPlanes: [new THREE.Plane(new THREE.Vector3(1, 0, 0), 0.1)], side: THREE.DoubleSide }), [0, 0, 0]),
    add(box, shader(), [2, 0, 0]),
    add(box, new THREE.MeshBasicMaterial({ color: 0xff8800, transparent: true, opacity: 0.5, depthWrite: false }), [-1, 0.5, 1.5]),
    add(box, new THREE.MeshBasicMaterial({ map: texture(8, 3), transparent: true, blending: THREE.MultiplyBlending, premultipliedAlpha: true, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -4 }), [1, 0.5, 1.5]),
    add(box, new THREE.MeshLambertMaterial({ color: 0x3366ff, transparent: true, blending: THREE.AdditiveBlending, side: THREE.BackSide, alphaToCoverage: true }), [0, 1.2, -1]),
  ];
  // A mask in the stencil buffer, and what shows inside of it.
  const stencil = { stencilWrite: true, stencilRef: 5, stencilFunc: THREE.AlwaysStencilFunc, stencilZPass: THREE.ReplaceStencilOp };
  add(new THREE.CircleGeometry(0.7, 12), new THREE.MeshBasicMaterial({ ...stencil, colorWrite: false, depthWrite: false }), [-2.5, 1.8, -1]).renderOrder = -1;
  add(box, new THREE.MeshBasicMaterial({ ...stencil, color: 0x22ff88, stencilFunc: THREE.EqualStencilFunc }), [-2.5, 1.8, -1]);
  const many = new THREE.InstancedMesh(new THREE.IcosahedronGeometry(0.12), new THREE.MeshStandardMaterial({ flatShading: true }), 30);
  many.castShadow = true;
  scene.add(many);
  const line = new THREE.BufferGeometry().setFromPoints([[-3, 2, 0], [3, 2, 0], [0, 3, -2]].map((p) => new THREE.Vector3(...p)));
  scene.add(new THREE.LineLoop(line, new THREE.LineBasicMaterial({ color: 0xffff00 })), new THREE.Points(line, new THREE.PointsMaterial({ size: 0.4, map: texture(8, 4) })));
  // Drawn beside the canvas, by samples and into two textures; shown on it.
  const beside = new THREE.WebGLRenderTarget(32, 32, { count: 2, samples: 4, stencilBuffer: true });
  const two = new THREE.Scene();
  const both = new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3, uniforms: { map: { value: texture(8, 7) } },
    vertexShader: "out vec2 p; void main() { p = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "uniform sampler2D map; in vec2 p; layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; void main() { a = texture(map, p); b = vec4(p, 0.5, 1.0); }",
  });
  const inside = add(box, both, [0, 0, 0], two);
  two.background = new THREE.Color(0x203040);
  add(new THREE.PlaneGeometry(1.5, 1.5), new THREE.MeshBasicMaterial({ map: beside.textures[1] }), [2.6, 1.8, -1]);
  const changing = texture(8, 6);
  add(new THREE.PlaneGeometry(1, 1), new THREE.MeshBasicMaterial({ map: changing }), [0, 2.2, -1.5]);

  const place = new THREE.Object3D();
  const pixels = new Uint8Array(4 * (WIDTH * HEIGHT + 2 * 32 * 32));
  const frame = (k) => {
    const t = k / 10;
    turning.forEach((mesh, i) => mesh.rotation.set(t + i, 0.7 * t, 0));
    turning[2].material.uniforms.at.value = k % 3;
    for (let i = 0; i < many.count; i += 1) {
      place.position.set(3 * Math.cos(i + t), 0.5 * Math.sin(3 * i + t), 3 * Math.sin(i + t));
      place.updateMatrix();
      many.setMatrixAt(i, place.matrix);
    }
    many.instanceMatrix.needsUpdate = true;
    changing.image.data.set(bytes(4 * 8 * 8, k));
    changing.needsUpdate = true;
    inside.rotation.set(t, t, 0);
    // What first comes with a later picture is made between texla's calls too.
    if (k === 7) add(new THREE.SphereGeometry(0.5, 8, 6), new THREE.MeshToonMaterial({ map: texture(8, 9) }), [0, 0.4, 2.2]);
    gl.setRenderTarget(beside);
    gl.render(two, camera);
    gl.setRenderTarget(null);
    gl.setScissorTest(false);
    gl.setViewport(0, 0, WIDTH, HEIGHT);
    gl.render(scene, camera);
    // A second look in a corner.
    gl.setScissorTest(true);
    gl.setScissor(4, 4, 24, 18);
    gl.setViewport(4, 4, 24, 18);
    gl.render(two, camera);
    context.readPixels(0, 0, WIDTH, HEIGHT, context.RGBA, context.UNSIGNED_BYTE, pixels);
    for (const i of [0, 1]) {
      gl.readRenderTargetPixels(beside, 0, 0, 32, 32, pixels.subarray(4 * (WIDTH * HEIGHT + i * 32 * 32)), undefined, i);
    }
    return pixels.slice();
  };
  return { frame, told: () => gl.resetState() };
}
