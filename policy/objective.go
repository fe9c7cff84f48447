package policy

// Objective is a query whose value shows whether pods are well.
type Objective struct {
	// Name is unique in the list, and a DNS label.
	Name string
	// Prometheus is the URL of the Prometheus that answers the query.
	Prometheus string
	// Query is in PromQL.
	Query string
	// Above or Below is the threshold: a value beyond it breaks the objective. The other is nil.
	Above, Below *float64
}

// IsBrokenBy reports whether a value breaks the objective. NaN does not: it is the value of a query
// without measurements.
func (o *Objective) IsBrokenBy(value float64) bool {
	return o.Above != nil && value > *o.Above || o.Below != nil && value < *o.Below
}

// Worse returns which of two values is further from the objective, or the one that is not NaN.
func (o *Objective) Worse(a, b float64) float64 {
	if b != b || o.Above != nil && a > b || o.Below != nil && a < b {
		return a
	}
	return b
}

// sameAs reports whether two objectives are equal.
func (o Objective) sameAs(p Objective) bool {
	same := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	return o.Name == p.Name && o.Prometheus == p.Prometheus && o.Query == p.Query && same(o.Above, p.Above) && same(o.Below, p.Below)
}
