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
