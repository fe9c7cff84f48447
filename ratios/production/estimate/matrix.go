package estimate

import "math"

// matrix is a square matrix, row by row.
type matrix struct {
	n int
	v []float64
}

func newMatrix(n int) matrix { return matrix{n, make([]float64, n*n)} }

func (m matrix) at(i, j int) float64     { return m.v[i*m.n+j] }
func (m matrix) set(i, j int, x float64) { m.v[i*m.n+j] = x }
func (m matrix) add(i, j int, x float64) { m.v[i*m.n+j] += x }

// factor replaces a symmetric positive definite matrix with its Cholesky factor, and returns the logarithm of its
// determinant. A direction without information is given a tiny amount of it.
func (m matrix) factor() float64 {
	determinant := 0.0
	for j := range m.n {
		for i := j; i < m.n; i++ {
			x := m.at(i, j)
			for k := range j {
				x -= m.at(i, k) * m.at(j, k)
			}
			if i == j {
				x = math.Sqrt(max(x, 1e-12))
				determinant += 2 * math.Log(x)
			} else {
				x /= m.at(j, j)
			}
			m.set(i, j, x)
		}
	}
	return determinant
}

// solve replaces b with the solution of m·x = b, of a factor.
func (m matrix) solve(b []float64) {
	for i := range m.n {
		for k := range i {
			b[i] -= m.at(i, k) * b[k]
		}
		b[i] /= m.at(i, i)
	}
	for i := m.n - 1; i >= 0; i-- {
		for k := i + 1; k < m.n; k++ {
			b[i] -= m.at(k, i) * b[k]
		}
		b[i] /= m.at(i, i)
	}
}

// invert returns the inverse of the matrix of a factor.
func (m matrix) invert() matrix {
	inverse := newMatrix(m.n)
	m.invertInto(inverse, make([]float64, m.n))
	return inverse
}

// invertInto fills a matrix with the inverse of the matrix of a factor. It uses the column.
func (m matrix) invertInto(inverse matrix, column []float64) {
	for j := range m.n {
		clear(column)
		column[j] = 1
		m.solve(column)
		for i := range m.n {
			inverse.set(i, j, column[i])
		}
	}
}

// times fills a vector with the product of the matrix and another vector.
func (m matrix) times(x, product []float64) {
	for i := range m.n {
		product[i] = 0
		for j := range m.n {
			product[i] += m.at(i, j) * x[j]
		}
	}
}
