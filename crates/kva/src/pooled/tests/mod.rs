mod cases;
mod model;
mod threads;
