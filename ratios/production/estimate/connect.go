package estimate

import "slices"

// connect finds the types that workloads compare with the baseline, directly or through others.
func (m *model) connect(all []workload) {
	m.connected = make([]bool, m.types)
	if m.base < 0 {
		return
	}
	edges := make([][]int, m.types)
	for i := range all {
		if w := &all[i]; w.held == "" && w.judged == "" {
			for _, p := range w.compared {
				edges[p.a] = append(edges[p.a], p.b)
				edges[p.b] = append(edges[p.b], p.a)
			}
		}
	}
	m.connected[m.base] = true
	for next := []int{m.base}; len(next) > 0; {
		t := next[len(next)-1]
		next = next[:len(next)-1]
		for _, u := range edges[t] {
			if !m.connected[u] {
				m.connected[u] = true
				next = append(next, u)
			}
		}
		edges[t] = nil
	}
}

// judge holds back workloads that probably mislead, and those whose types are then no longer compared with the baseline.
func (m *model) judge(all []workload) {
	for i := range m.workloads {
		o := &m.workloads[i]
		if o.class[0] < 0.5 {
			o.w.judged = classes[slices.Index(o.class, slices.Max(o.class))].reason
		}
	}
	m.connect(all)
	for i := range m.workloads {
		if w := m.workloads[i].w; w.judged == "" && !slices.ContainsFunc(w.pairs, func(p pair) bool { return m.connected[p.a] }) {
			w.judged = NotConnected
		}
	}
}
