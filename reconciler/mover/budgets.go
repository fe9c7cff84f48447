package mover

// keep postpones a pod that does not move, and notes whether that is because of a PodDisruptionBudget.
func (g *glance) keep(c *candidate, why string) {
	g.postpone(c.UID, why)
	if !c.budget {
		return
	}
	r := g.retryOf(c.UID)
	g.mu.Lock()
	defer g.mu.Unlock()
	r.budget = c.Namespace
}

// BudgetEased takes note that a PodDisruptionBudget in a namespace may permit more than before: what waits for it is tried again.
func (m *Mover) BudgetEased(namespace string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.retries {
		if r.budget == namespace {
			r.tries, r.at = 0, m.Clock.Now()
			m.lookSoon()
		}
	}
}
