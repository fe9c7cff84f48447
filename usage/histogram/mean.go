package histogram

// Mean returns the mean of the union of histograms, each value in the middle of its bucket. It returns
// 0 if all are empty.
func Mean(parts ...Part) float64 {
	var sum, total float64
	reference := latest(parts)
	for _, part := range parts {
		c, ok := begin(part, reference)
		for ; ok && !c.done; c.next() {
			buckets := part.Histogram.shape.Buckets
			sum += c.weight() * part.Factor * (buckets.starts[c.bucket] + buckets.upper(c.bucket)) / 2
			total += c.weight()
		}
	}
	if total == 0 {
		return 0
	}
	return sum / total
}

// MeanAbove returns the mean of the highest values of the union of histograms, of which the share 1 - p is above the
// percentile p, each value at the upper edge of its bucket. It returns 0 if all are empty.
//
// If values are averaged over groups of equal weight, the percentile p of the averages is not above it.
func MeanAbove(p float64, parts ...Part) float64 {
	from := Percentile(p, parts...)
	var sum, above, total float64
	reference := latest(parts)
	for _, part := range parts {
		c, ok := begin(part, reference)
		for ; ok && !c.done; c.next() {
			if total += c.weight(); c.value > from {
				sum += c.weight() * c.value
				above += c.weight()
			}
		}
	}
	highest := max((1-p)*total, above)
	if highest == 0 {
		return from
	}
	return (sum + (highest-above)*from) / highest
}
