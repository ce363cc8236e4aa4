mod cases;
mod model;
mod residency;
mod threads;
