//! A picture as a PNG that the page carries in itself: one pixel per stretch of time and addresses, time to the right,
//! addresses upwards. Of busy shares, light is free and dark busy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The hue of the scale, in degrees of OKLCH.
const HUE: f64 = 256.0;

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
    (0..=255u8).map(|busy| shade(f64::from(busy) / 255.0)).collect()
}

/// The colour of a busy share of 0 to 1: one hue whose lightness falls evenly.
fn shade(share: f64) -> [u8; 3] {
    let lightness = 0.965 - 0.685 * share;
    // Most colour in the middle: neither near white nor near black is there room for it.
    let chroma = 0.012 + 0.42 * share * (1.0 - share) + 0.06 * share;
    let (sin, cos) = HUE.to_radians().sin_cos();
    oklab_to_srgb(lightness, chroma * cos, chroma * sin)
}

/// Source: Ottosson, "A perceptual color space for image processing", 2020.
fn oklab_to_srgb(lightness: f64, a: f64, b: f64) -> [u8; 3] {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ]
    .map(|linear| {
        let linear = linear.clamp(0.0, 1.0);
        let encoded =
            if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
        (encoded * 255.0).round() as u8
    })
}

/// What the lightest shade means, and the darkest.
pub(super) fn legend(lightest: &str, darkest: &str) -> String {
    let stops: Vec<String> = (0..=8).map(|at| css(shade(f64::from(at) / 8.0))).collect();
    format!(
        "<p class=\"shades\">{lightest} <i style=\"background:linear-gradient(90deg,{})\"></i> {darkest}</p>",
        stops.join(",")
    )
}

/// The colour in a style sheet.
pub(super) fn css([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
