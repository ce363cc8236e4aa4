//! A picture as a PNG that the page carries in itself: one pixel per stretch of time and addresses, time to the right,
//! addresses upwards. Of busy shares, light is free and dark busy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Colours of busy shares, eighth by eighth: in OKLCH, one hue, of 256 degrees; lightness falls evenly from 0.965 to 0.28; most chroma
/// in the middle, as there is no room for it near white and black. Source: Ottosson, "A perceptual color space for image processing",
/// 2020.
const SHADES: [[u8; 3]; 9] = [
    [238, 244, 252],
    [188, 218, 255],
    [142, 191, 255],
    [103, 163, 242],
    [69, 135, 221],
    [42, 109, 193],
    [22, 84, 159],
    [14, 61, 119],
    [14, 41, 75],
];

/// A grid of numbers of colours, column by column from the bottom up, as a `data:` address. `columns` names the column of
/// the grid that each column of pixels shows; `None` if there is nothing to show.
pub(super) fn uri(
    cells: &[u8],
    rows: usize,
    columns: &[usize],
    palette: &[[u8; 3]],
) -> anyhow::Result<Option<String>> {
    if rows == 0 || columns.is_empty() {
        return Ok(None);
    }
    let mut pixels = Vec::with_capacity(rows * columns.len());
    for row in (0..rows).rev() {
        pixels.extend(columns.iter().map(|column| cells.get(column * rows + row).copied().unwrap_or(0)));
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, u32::try_from(columns.len())?, u32::try_from(rows)?);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(Some(format!("data:image/png;base64,{}", STANDARD.encode(file))))
}

/// The colour of each busy share of 255.
pub(super) fn shades() -> Vec<[u8; 3]> {
    let between = |busy: usize| {
        let (at, part) = (busy * 8 / 255, (busy * 8 % 255) as f64 / 255.0);
        let next = SHADES[(at + 1).min(SHADES.len() - 1)];
        std::array::from_fn(|of| {
            let [low, high] = [SHADES[at][of], next[of]].map(f64::from);
            (low + part * (high - low)).round() as u8
        })
    };
    (0..=255).map(between).collect()
}

/// What the lightest shade means, and the darkest.
pub(super) fn legend(lightest: &str, darkest: &str) -> String {
    let stops = SHADES.map(css).join(",");
    format!(
        "<p class=\"shades\">{lightest} <i style=\"background:linear-gradient(90deg,{stops})\"></i> {darkest}</p>"
    )
}

/// The colour in a style sheet.
pub(super) fn css([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
