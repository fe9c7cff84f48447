package estimate

// measuredOn counts the machines of some aggregates.
func measuredOn(aggregates []*Aggregate) int {
	names := make(map[string]bool)
	for _, a := range aggregates {
		a.scores.addMachines(names)
	}
	return len(names)
}

// withoutOutliers drops an odd aggregate if all of its scores are outliers among the
// scores of the node type in the same test. So a machine cannot avoid being an outlier
// by claiming a CPU that no other machine has.
func withoutOutliers(aggregates []*Aggregate, odd map[*Aggregate]bool, s *Settings) []*Aggregate {
	if len(odd) == 0 {
		return aggregates
	}
	together := make(map[test]scores)
	for _, a := range aggregates {
		t := a.test()
		together[t] = append(together[t], a.scores...)
	}
	outliers := make(map[test]map[scoreOf]bool, len(together))
	for t, all := range together {
		outliers[t] = make(map[scoreOf]bool)
		for x := range newScores(all).outliers(s) {
			outliers[t][scoreOf{x.value, x.machine}] = true
		}
	}
	var kept []*Aggregate
	for _, a := range aggregates {
		drop := odd[a]
		for _, x := range a.scores {
			drop = drop && outliers[a.test()][scoreOf{x.value, x.machine}]
		}
		if !drop {
			kept = append(kept, a)
		}
	}
	return kept
}
