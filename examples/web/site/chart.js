// A residual as it falls: a logarithmic axis, a line, and the bound.
import { colour, onTheme } from "./shell.js";

export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.clear(1e-6);
    new ResizeObserver(() => this.draw()).observe(canvas);
    onTheme(() => this.draw());
  }

  clear(bound) {
    Object.assign(this, { points: [], bound, base: 0, last: 0 });
    this.later();
  }

  // Where another method goes on its iterations count from zero again.
  add(iteration, residual) {
    if (iteration < this.last) this.base += this.last;
    this.last = iteration;
    if (residual > 0 && Number.isFinite(residual)) this.points.push([this.base + iteration, Math.log10(residual)]);
    this.later();
  }

  later() {
    this.request ??= requestAnimationFrame(() => { this.request = null; this.draw(); });
  }

  draw() {
    const { canvas, points } = this;
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = Math.round(scale * width);
    canvas.height = Math.round(scale * height);
    const c = canvas.getContext("2d");
    c.scale(scale, scale);
    const [ink, faint, rule, accent] = ["ink", "faint", "line", "accent"].map(colour);
    const goal = Math.log10(this.bound);
    const low = Math.floor(Math.min(goal, ...points.map((p) => p[1])) - 0.3);
    const high = Math.ceil(Math.max(0, ...points.map((p) => p[1])));
    const most = Math.max(10, points.length ? points[points.length - 1][0] : 10);
    const [left, right, top, bottom] = [52, 14, 12, 34];
    const x = (k) => left + (width - left - right) * k / most;
    const y = (v) => top + (height - top - bottom) * (high - v) / (high - low);
    c.font = "12px system-ui, sans-serif";
    c.lineWidth = 1;
    c.textBaseline = "middle";
    c.textAlign = "right";
    const every = Math.max(1, Math.ceil((high - low) / 8));
    for (let v = high; v >= low; v -= every) {
      c.strokeStyle = rule;
      c.beginPath(); c.moveTo(left, Math.round(y(v)) + .5); c.lineTo(width - right, Math.round(y(v)) + .5); c.stroke();
      c.fillStyle = faint;
      c.fillText(v === 0 ? "1" : `1e${v}`, left - 8, y(v));
    }
    c.textBaseline = "top";
    c.textAlign = "center";
    const step = 10 ** Math.floor(Math.log10(most / 3)), pitch = step * [1, 2, 5].find((m) => most / (m * step) <= 7);
    for (let k = 0; k <= most; k += pitch) c.fillText(String(Math.round(k)), x(k), height - bottom + 7);
    c.textAlign = "right";
    c.fillText("iterations", width - right, height - 14);
    c.setLineDash([5, 4]);
    c.strokeStyle = faint;
    c.beginPath(); c.moveTo(left, y(goal)); c.lineTo(width - right, y(goal)); c.stroke();
    c.setLineDash([]);
    c.textBaseline = "bottom";
    c.fillStyle = ink;
    c.fillText(`bound ${this.bound.toExponential(0)}`, width - right, y(goal) - 3);
    if (!points.length) return;
    c.strokeStyle = accent;
    c.fillStyle = accent;
    c.lineWidth = 2;
    c.lineJoin = "round";
    c.beginPath();
    points.forEach(([k, v], i) => i ? c.lineTo(x(k), y(v)) : c.moveTo(x(k), y(v)));
    c.stroke();
    const [k, v] = points[points.length - 1];
    c.beginPath(); c.arc(x(k), y(v), 3.5, 0, 7); c.fill();
  }
}
