//! Two buffers taking turns.

/// A front buffer to read and a back buffer to write. The exchange is explicit and costs nothing.
///
/// ```
/// use texla::kernel::PingPong;
/// let mut pair = PingPong::new(1, 2);
/// {
///     let (front, back) = pair.split();
///     *back = *front + 10;
/// }
/// pair.swap();
/// assert_eq!((*pair.front(), *pair.back()), (11, 1));
/// ```
#[derive(Debug)]
pub struct PingPong<T> {
    front: T,
    back: T,
}

impl<T> PingPong<T> {
    /// Starts with `front` to be read first.
    pub fn new(front: T, back: T) -> Self {
        Self { front, back }
    }

    /// The buffer to read.
    pub fn front(&self) -> &T {
        &self.front
    }

    /// The buffer to read, for writing in place (uploads, initial values).
    pub fn front_mut(&mut self) -> &mut T {
        &mut self.front
    }

    /// The buffer written last time round.
    pub fn back(&self) -> &T {
        &self.back
    }

    /// The buffer written last time round, for writing in place.
    pub fn back_mut(&mut self) -> &mut T {
        &mut self.back
    }

    /// What a pass needs: the front to read and the back to write.
    pub fn split(&mut self) -> (&T, &mut T) {
        (&self.front, &mut self.back)
    }

    /// Exchanges front and back.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.front, &mut self.back);
    }

    /// Gives up the pair: `(front, back)`.
    pub fn into_inner(self) -> (T, T) {
        (self.front, self.back)
    }
}
