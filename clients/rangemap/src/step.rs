//! The traits of steps, which programs name in bounds.

/// A key that has neighbours.
pub trait StepLite {
    /// The next key.
    #[must_use]
    fn add_one(&self) -> Self;

    /// The key before.
    #[must_use]
    fn sub_one(&self) -> Self;
}

macro_rules! steps {
    ($($key:ty)*) => {$(
        impl StepLite for $key {
            #[inline]
            fn add_one(&self) -> Self {
                self + 1
            }

            #[inline]
            fn sub_one(&self) -> Self {
                self - 1
            }
        }
    )*};
}

steps! { usize u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 }

/// Steps from key to key that are another type's.
pub trait StepFns<T> {
    /// The next key.
    fn add_one(start: &T) -> T;

    /// The key before.
    fn sub_one(start: &T) -> T;
}

impl<T: StepLite> StepFns<T> for T {
    fn add_one(start: &T) -> T {
        start.add_one()
    }

    fn sub_one(start: &T) -> T {
        start.sub_one()
    }
}
