//! The kernel's own description of an event, its `format` file: where each field of a record is.

use crate::decode::Values;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of a format file at most.
pub(crate) const MOST_BYTES: u64 = 1 << 20;
/// `__GFP_ACCOUNT` where the format file does not say.
const ACCOUNT: u64 = 1 << 22;

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    name: String,
    offset: usize,
    size: usize,
    signed: bool,
    /// Characters, not a number: within the record, or where its number says.
    text: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Within,
    Elsewhere,
}

impl Field {
    /// A field as a format file has it, `declaration` being its type and name.
    pub(crate) fn new(declaration: &str, offset: usize, size: usize, signed: bool) -> Option<Self> {
        let declaration = declaration.trim();
        let (declaration, is_array) = match declaration.split_once('[') {
            Some((before, _)) if declaration.ends_with(']') => (before.trim(), true),
            _ => (declaration, false),
        };
        let (kind, name) = declaration.rsplit_once([' ', '*'])?;
        let text = match kind {
            _ if kind.starts_with("__data_loc") => Some(Place::Elsewhere),
            _ if is_array && kind.trim_end() == "char" => Some(Place::Within),
            _ => None,
        };
        Some(Self { name: name.to_owned(), offset, size, signed, text })
    }
}

/// What a format file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// The number that records of it have.
    pub(crate) id: u16,
    /// The event's name.
    pub(crate) name: Rc<str>,
    fields: Vec<Field>,
    /// The bit of `gfp_flags` that charges a control group.
    account: u64,
}

impl Format {
    /// An event with these fields.
    pub(crate) fn new(id: u16, name: &str, fields: Vec<Field>, print: &str) -> Self {
        Self { id, name: Rc::from(name), fields, account: account_bit(print).unwrap_or(ACCOUNT) }
    }

    /// Reads a format file; an error has its line.
    pub(crate) fn parse(text: &str) -> Result<Self, (u64, String)> {
        let (mut id, mut name, mut fields, mut print) = (None, None, Vec::new(), "");
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(text) = line.strip_prefix("name: ") {
                name = Some(text.trim());
            } else if let Some(text) = line.strip_prefix("ID: ") {
                let read = text.trim().parse().map_err(|_| (number, format!("ID is no number: {text:?}")))?;
                id = Some(read);
            } else if let Some(text) = line.trim_start().strip_prefix("field:") {
                fields.push(field(text).map_err(|what| (number, what))?);
            } else if let Some(text) = line.strip_prefix("print fmt:") {
                print = text;
            }
        }
        match (id, name) {
            (Some(id), Some(name)) => Ok(Self::new(id, name, fields, print)),
            (None, _) => Err((1, "not a format file: no line begins `ID: `".to_owned())),
            (_, None) => Err((1, "not a format file: no line begins `name: `".to_owned())),
        }
    }

    /// A number within a record; nothing if the event has no such field or the record ends before it.
    pub(crate) fn number(&self, name: &str, data: &[u8]) -> Option<u64> {
        let field = self.field(name)?;
        let bytes = data.get(field.offset..field.offset.checked_add(field.size)?)?;
        number(bytes, field.signed)
    }

    /// Where a field is, and its bytes.
    pub(super) fn place(&self, name: &str) -> Option<(usize, usize)> {
        self.field(name).map(|field| (field.offset, field.size))
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    fn characters<'a>(&self, field: &Field, data: &'a [u8]) -> Option<Cow<'a, str>> {
        let own = data.get(field.offset..field.offset.checked_add(field.size)?)?;
        let bytes = match field.text? {
            Place::Within => own,
            Place::Elsewhere => {
                let place = number(own, false)?;
                let (start, len) = ((place & 0xffff) as usize, (place >> 16 & 0xffff) as usize);
                data.get(start..start + len)?
            }
        };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]))
    }
}

/// What stands behind `field:`.
fn field(text: &str) -> Result<Field, String> {
    let mut parts = text.split(';');
    let declaration = parts.next().unwrap_or_default();
    let mut named = |name: &str| {
        let part = parts.next().map(str::trim).and_then(|part| part.strip_prefix(name)?.strip_prefix(':'));
        let number: Option<usize> = part.and_then(|number| number.parse().ok());
        number.ok_or_else(|| format!("the field {declaration:?} has no {name}"))
    };
    let (offset, size) = (named("offset")?, named("size")?);
    let signed = named("signed")? != 0;
    Field::new(declaration, offset, size, signed).ok_or_else(|| format!("a field without a name: {text:?}"))
}

/// A number of 1 to 8 bytes. A field may be longer than its type: all bytes count.
fn number(bytes: &[u8], signed: bool) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 8 {
        return None;
    }
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    let value = u64::from_le_bytes(whole);
    let unused = 64 - 8 * bytes.len() as u32;
    Some(if signed { ((value << unused).cast_signed() >> unused).cast_unsigned() } else { value })
}

/// The bit that is printed as `__GFP_ACCOUNT`: a shift of 1, or a hexadecimal number in older kernels.
fn account_bit(print: &str) -> Option<u64> {
    let before = print.get(..print.find("\"__GFP_ACCOUNT\"")?)?;
    let entry = before.get(before.rfind('{')?..)?;
    let digits = |text: &str, of: fn(&char) -> bool| text.chars().take_while(of).collect::<String>();
    if let Some((_, shift)) = entry.rsplit_once("<<") {
        let shift = digits(shift.trim_start_matches([' ', '(']), char::is_ascii_digit).parse().ok()?;
        return 1u64.checked_shl(shift);
    }
    let (_, number) = entry.rsplit_once("0x")?;
    u64::from_str_radix(&digits(number, char::is_ascii_hexdigit), 16).ok()
}

/// The names of the kernel's functions, as `/proc/kallsyms` has them.
#[derive(Default)]
pub(crate) struct Symbols(BTreeMap<u64, Rc<str>>);

impl Symbols {
    /// Reads `ADDRESS TYPE NAME` lines; others are passed over, as are addresses that were hidden.
    pub(crate) fn parse(text: &str) -> Self {
        let functions = text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            (is_code && address != 0).then_some((address, Rc::from(words.next()?)))
        });
        Self(functions.collect())
    }

    /// The addresses of the functions of these names, as far as they are known.
    pub(crate) fn addresses(&self, names: &[&str]) -> Vec<u64> {
        self.0.iter().filter(|(_, name)| names.contains(&&***name)).map(|(address, _)| *address).collect()
    }

    /// The function that the address lies in; its hexadecimal digits if that is not known.
    fn name(&self, address: u64) -> Rc<str> {
        let below = self.0.range(..=address).next_back();
        below.map_or_else(|| Rc::from(format!("{address:x}")), |(_, name)| Rc::clone(name))
    }
}

/// A record and what describes it.
pub(crate) struct RawRecord<'a> {
    pub(crate) format: &'a Format,
    pub(crate) data: &'a [u8],
    pub(crate) symbols: &'a Symbols,
}

impl Values for RawRecord<'_> {
    fn number(&self, name: &str) -> Option<u64> {
        self.format.number(name, self.data)
    }

    fn hex(&self, name: &str) -> Option<u64> {
        self.number(name)
    }

    fn text(&self, name: &str) -> Option<Rc<str>> {
        let field = self.format.field(name)?;
        if field.text.is_some() {
            return self.format.characters(field, self.data).map(Rc::from);
        }
        // What a pointer to characters shows is not in the record.
        let value = self.number(name)?;
        Some(if name == "fn" { Rc::from(format!("{value:x}")) } else { self.symbols.name(value) })
    }

    fn accounted(&self, name: &str) -> Option<bool> {
        Some(self.number(name)? & self.format.account != 0)
    }
}
