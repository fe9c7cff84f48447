package ratios

// KeepProvenance takes over where values come from that are as they were before:
// whoever writes a source as a whole has not written each of them. It is for the
// provider of the layer, which nobody else knows yet; before may be nil. Nothing is
// as before in a layer that is relative to another node type.
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
