//! Line plots as SVG, without dependencies.
//!
//! A picture has no background, and its text has the current colour, which the picture itself sets for light and dark
//! surroundings: so it is readable on either, also where it is shown as an image that knows nothing of its page.

mod scale;

use std::fmt::Write;

pub use self::scale::{Axis, Kind};

/// A plot of several lines.
pub struct Plot {
    /// Stands above it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// A line across at this height, with one short word for it.
    pub level: Option<(f64, String)>,
    /// At most as many as there are colours.
    pub lines: Vec<Line>,
}

/// A line through points, from left to right.
pub struct Line {
    /// What the legend calls it.
    pub label: String,
    /// Drawn with gaps.
    pub dashed: bool,
    /// Which colour: lines with the same number have the same one.
    pub colour: usize,
    /// Where it goes.
    pub points: Vec<(f64, f64)>,
}

/// Of middle lightness, so that they can be seen on white and on black; also told apart by most who see fewer colours.
const COLOURS: [&str; 5] = ["#2a7fc9", "#e0791f", "#2a9d78", "#c8508c", "#8a6fd6"];

const WIDTH: f64 = 760.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 48.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 370.0;
/// Between the legend's lines.
const LEADING: f64 = 22.0;

const STYLE: &str = "svg{color:#24292f;font:13px system-ui,-apple-system,'Segoe UI',sans-serif}\
@media (prefers-color-scheme:dark){svg{color:#d8dee6}}\
text{fill:currentColor}.title{font-size:15px;font-weight:600}.tick{font-size:12px;opacity:.8}\
.grid{stroke:currentColor;opacity:.13}.fine{stroke:currentColor;opacity:.06}.frame{stroke:currentColor;opacity:.5}\
.level{stroke:currentColor;opacity:.7;stroke-dasharray:2 3}\
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.dashed{stroke-dasharray:7 5}";

impl Plot {
    /// The picture.
    pub fn svg(&self) -> String {
        let rows = self.lines.len().div_ceil(2) as f64;
        let height = BOTTOM + 62.0 + rows * LEADING;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
             <clipPath id=\"in\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{w}\" height=\"{h}\"/></clipPath>\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"28\">{title}</text>\n",
            title = escaped(&self.title),
            w = RIGHT - LEFT,
            h = BOTTOM - TOP,
        );
        self.axes(&mut svg);
        if let Some((at, label)) = &self.level {
            let y = self.y.place(*at, BOTTOM, TOP);
            rule(&mut svg, "level", (LEFT, y), (RIGHT, y));
            text(&mut svg, ("tick", "start"), (RIGHT + 6.0, y + 4.0), label);
        }
        for line in &self.lines {
            self.draw(&mut svg, line);
        }
        self.legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn axes(&self, svg: &mut String) {
        for value in self.x.fine() {
            let x = self.x.place(value, LEFT, RIGHT);
            rule(svg, "fine", (x, TOP), (x, BOTTOM));
        }
        for value in self.y.fine() {
            let y = self.y.place(value, BOTTOM, TOP);
            rule(svg, "fine", (LEFT, y), (RIGHT, y));
        }
        for (value, label) in self.x.ticks() {
            let x = self.x.place(value, LEFT, RIGHT);
            rule(svg, "grid", (x, TOP), (x, BOTTOM));
            text(svg, ("tick", "middle"), (x, BOTTOM + 18.0), &label);
        }
        for (value, label) in self.y.ticks() {
            let y = self.y.place(value, BOTTOM, TOP);
            rule(svg, "grid", (LEFT, y), (RIGHT, y));
            text(svg, ("tick", "end"), (LEFT - 8.0, y + 4.0), &label);
        }
        rule(svg, "frame", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        rule(svg, "frame", (LEFT, TOP), (LEFT, BOTTOM));
        text(svg, ("", "middle"), (f64::midpoint(LEFT, RIGHT), BOTTOM + 40.0), &self.x.label);
        let middle = f64::midpoint(TOP, BOTTOM);
        let _ = writeln!(
            svg,
            "<text text-anchor=\"middle\" transform=\"translate(20 {middle}) rotate(-90)\">{}</text>",
            escaped(&self.y.label)
        );
    }

    fn draw(&self, svg: &mut String, line: &Line) {
        let mut path = String::new();
        for (nth, &(x, y)) in line.points.iter().enumerate() {
            let command = if nth == 0 { 'M' } else { 'L' };
            let (x, y) = (self.x.place(x, LEFT, RIGHT), self.y.place(y, BOTTOM, TOP));
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        let _ = writeln!(
            svg,
            "<path class=\"{}\" stroke=\"{}\" clip-path=\"url(#in)\" d=\"{path}\"/>",
            line.class(),
            line.stroke()
        );
    }

    /// Two beside each other, below the plot.
    fn legend(&self, svg: &mut String) {
        for (nth, line) in self.lines.iter().enumerate() {
            let x = LEFT + (nth % 2) as f64 * (WIDTH - LEFT) * 0.47;
            let y = BOTTOM + 66.0 + (nth / 2) as f64 * LEADING;
            let _ = writeln!(
                svg,
                "<path class=\"{}\" stroke=\"{}\" d=\"M{x} {mid}h34\"/>",
                line.class(),
                line.stroke(),
                mid = y - 4.0
            );
            text(svg, ("", "start"), (x + 44.0, y), &line.label);
        }
    }
}

impl Line {
    fn class(&self) -> &'static str {
        if self.dashed { "line dashed" } else { "line" }
    }

    fn stroke(&self) -> &'static str {
        COLOURS[self.colour % COLOURS.len()]
    }
}

fn rule(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, (class, anchor): (&str, &str), (x, y): (f64, f64), words: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let words = escaped(words);
    let _ = writeln!(svg, "<text{class} text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_where_the_axes_say() {
        let axis = |label: &str, kind, to| Axis::new(label, kind, 1.0, to);
        let line = Line { label: "a < b".to_owned(), dashed: true, colour: 1, points: vec![(1.0, 1.0), (100.0, 9.0)] };
        let plot = Plot {
            title: "t".to_owned(),
            x: axis("x", Kind::Log, 100.0),
            y: axis("y", Kind::Linear, 9.0),
            level: Some((5.0, "middle".to_owned())),
            lines: vec![line],
        };
        let svg = plot.svg();
        assert!(svg.contains(&format!("d=\"M{LEFT:.1} {BOTTOM:.1}L{RIGHT:.1} {TOP:.1}\"")), "{svg}");
        assert!(svg.contains(&format!("y1=\"{:.1}\" x2=\"{RIGHT:.1}\"", f64::midpoint(TOP, BOTTOM))), "{svg}");
        assert!(svg.contains(">a &lt; b</text>") && !svg.contains("a < b"), "{svg}");
    }
}
