package ratios

// KeepProvenance copies the provenance of unchanged values from the previous layer: an author
// who rewrites a whole source has not changed every value in it. Only the provider of the layer
// may call it, before it reports the layer. The previous layer may be nil. If it is relative to
// a different node type, no value counts as unchanged.
func (l *Layer) KeepProvenance(before *Layer) {
	if before == nil || l.RelativeTo != before.RelativeTo {
		return
	}
	keepProvenance(l.Ratios, before.Ratios)
	rules := map[string]map[string]Ratio{}
	for _, r := range before.Rules {
		rules[r.Name] = r.Ratios
	}
	for _, r := range l.Rules {
		keepProvenance(r.Ratios, rules[r.Name])
	}
}

func keepProvenance(now, before map[string]Ratio) {
	for nodeType, r := range now {
		was, ok := before[nodeType]
		if ok && r.CPUPerf == was.CPUPerf && r.MemoryPerf == was.MemoryPerf && r.ExpireTime.Equal(was.ExpireTime) {
			r.Provenance = was.Provenance
			now[nodeType] = r
		}
	}
}
