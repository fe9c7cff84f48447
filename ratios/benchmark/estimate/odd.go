package estimate

// measuredOn counts the machines of some aggregates.
func measuredOn(aggregates []*Aggregate) int {
	names := make(map[string]bool)
	for _, a := range aggregates {
		for _, x := range a.scores {
			names[x.machine] = true
		}
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
		t := test{a.Benchmark, a.Version}
		together[t] = append(together[t], a.scores...)
	}
	outliers := make(map[test]map[score]bool, len(together))
	for t, all := range together {
		all = newScores(all)
		outliers[t] = all.outliers(all.perMachine(), s)
	}
	var kept []*Aggregate
	for _, a := range aggregates {
		drop := odd[a]
		for _, x := range a.scores {
			drop = drop && outliers[test{a.Benchmark, a.Version}][x]
		}
		if !drop {
			kept = append(kept, a)
		}
	}
	return kept
}
