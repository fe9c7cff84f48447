package evidence

// Moments are the weight, the mean and the sum of squared deviations of a number over hours.
type Moments struct{ N, Mean, Squares float64 }

// add adds an hour.
func (m *Moments) add(x float64) {
	m.N++
	d := x - m.Mean
	m.Mean += d / m.N
	m.Squares += d * (x - m.Mean)
}

// scale multiplies the weight of all hours.
func (m *Moments) scale(by float64) { m.N, m.Squares = m.N*by, m.Squares*by }

// Merge returns the moments of both.
func (m Moments) Merge(other Moments) Moments {
	n := m.N + other.N
	if n == 0 {
		return m
	}
	d := other.Mean - m.Mean
	return Moments{N: n, Mean: m.Mean + d*other.N/n, Squares: m.Squares + other.Squares + d*d*m.N*other.N/n}
}
