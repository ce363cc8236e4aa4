//! A database of redb in a vector that grows in place.

use freehold_vmalloc::VmVec;
use redb::StorageBackend;
use std::io::{Error, ErrorKind};
use std::sync::{PoisonError, RwLock};

/// A vector that can be as long as the database will be.
#[derive(Debug)]
pub struct Memory(pub RwLock<VmVec<'static, u8>>);

impl StorageBackend for Memory {
    fn len(&self) -> Result<u64, Error> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let bytes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let part = bytes.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(part.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), Error> {
        let mut bytes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        bytes.resize_zeroed(len as usize).map_err(Error::other)
    }

    fn sync_data(&self) -> Result<(), Error> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), Error> {
        let mut bytes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let part = bytes.get_mut(offset as usize..offset as usize + data.len());
        part.ok_or(ErrorKind::UnexpectedEof)?.copy_from_slice(data);
        Ok(())
    }
}
