// The position of x among bins of equal width: a subtraction and a product, each rounded once on every device. The source
// divides by the range instead, and a division need not be.
float bin(float x) {
    return (x - low) * bins_per_unit;
}
