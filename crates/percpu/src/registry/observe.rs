//! Gauges whose values a closure reads when a page is made.

use super::Registry;
use super::error::RegistryError;
use super::family::{Kind, Metric};
use super::group::{Group, Observed};
use super::labels::checked;
use std::string::String;
use std::vec::Vec;

/// Gauges that are read for each page.
impl Registry {
    /// Shows what `read` returns as a gauge. It is called once for each page, and holds no lock of the registry meanwhile.
    ///
    /// ```
    /// use freehold_percpu::registry::Registry;
    /// let registry = Registry::new();
    /// registry.observe("cpus", &[], || 4.0)?;
    /// assert_eq!(registry.render(), "# TYPE cpus gauge\ncpus 4\n");
    /// # Ok::<(), freehold_percpu::registry::RegistryError>(())
    /// ```
    ///
    /// Cost: as [`Registry::counter`].
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn observe(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        read: impl Fn() -> f64 + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        self.observe_group(&[name.into()], labels, move |values| values[0] = read())
    }

    /// Shows figures that are read together as gauges: each of `names`, behind `prefix` and `_`. `read` is called once for
    /// each page, and holds no lock of the registry meanwhile. It writes the figures in the order of the names. All are
    /// registered or none.
    ///
    /// ```
    /// use freehold_percpu::registry::Registry;
    /// let registry = Registry::new();
    /// registry.observe_all("queue", &[], &["jobs", "bytes"], |values| values.copy_from_slice(&[3.0, 96.0]))?;
    /// assert_eq!(registry.render(), "# TYPE queue_bytes gauge\nqueue_bytes 96\n# TYPE queue_jobs gauge\nqueue_jobs 3\n");
    /// # Ok::<(), freehold_percpu::registry::RegistryError>(())
    /// ```
    ///
    /// Cost: as [`Registry::counter`] for each name. A name of the registry is taken for each; [`Registry::remove`] removes
    /// one.
    ///
    /// # Errors
    /// See [`RegistryError`]. No figure is registered.
    pub fn observe_all(
        &self,
        prefix: &str,
        labels: &[(&str, &str)],
        names: &[&str],
        read: impl Fn(&mut [f64]) + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        let names: Vec<String> = names.iter().map(|name| std::format!("{prefix}_{name}")).collect();
        self.observe_group(&names, labels, read)
    }

    fn observe_group(
        &self,
        names: &[String],
        labels: &[(&str, &str)],
        read: impl Fn(&mut [f64]) + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        let mut texts = Vec::new();
        for name in names {
            texts.push(checked(name, labels)?);
        }
        // Outlives the lock: on an error the user's closure is dropped, which may run any code.
        let group = Group::new(names.len(), read);
        let mut families = self.families();
        for (index, (name, labels)) in names.iter().zip(&texts).enumerate() {
            let metric = Metric::Observed(Observed { group: group.clone(), index });
            let added = families.add(name, &Kind::Observed, labels.clone(), metric);
            if let Err(error) = added {
                for (name, labels) in names.iter().zip(&texts).take(index) {
                    families.remove(name, labels);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}
