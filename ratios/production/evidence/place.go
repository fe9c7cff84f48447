package evidence

// Place is how the difference between two types in a zone deviates from that in all zones in which the same workloads compare
// the types in the same hours. A type may have other CPU models in another zone.
type Place struct {
	// A and B are the types, A below B.
	A, B, Zone int
	Last       int64
	// Halves are the two halves of the workloads: both have in common what the zone has, and nothing else.
	Halves [2]Deviation
}

// scale multiplies the weight of the past.
func (p *Place) scale(by float64) {
	for h := range p.Halves {
		p.Halves[h].Weight *= by
		p.Halves[h].Sum *= by
	}
}

// zonal is the difference between two types in a zone and an hour.
type zonal struct {
	kinds        [2]int
	zone         string
	mean, weight float64
}

// place compares zones in which a workload compared the same types in an hour. Precision is the inverse of the variance between
// its replicas: by as much as one of them may deviate, a zone may, however many replicas show it.
func (e *Evidence) place(all []zonal, precision float64, half int, at int64) {
	for i := range all {
		x := &all[i]
		sum, weight := 0.0, 0.0
		for j := range all {
			if y := &all[j]; y.kinds == x.kinds {
				sum += y.mean * y.weight
				weight += y.weight
			}
		}
		// It is part of the mean, so that its deviation from that varies less, and counts more.
		rest := weight - x.weight
		if rest <= 0 {
			continue
		}
		if p := e.placeOf(x, at); p != nil {
			w := precision * x.weight * weight / rest
			h := &p.Halves[half]
			h.Weight += w
			h.Sum += w * clamped(x.mean-sum/weight, precision)
		}
	}
}

// placeOf returns the place of a pair and a zone, with its weight of now; nil if there are too many.
func (e *Evidence) placeOf(x *zonal, at int64) *Place {
	zone := numberOf(&e.Zones, x.zone)
	if zone < 0 {
		return nil
	}
	for i := range e.Places {
		if p := &e.Places[i]; p.A == x.kinds[0] && p.B == x.kinds[1] && p.Zone == zone {
			if at > p.Last {
				p.scale(Decay(at - p.Last))
				p.Last = at
			}
			return p
		}
	}
	if len(e.Places) >= MostPlaces {
		return nil
	}
	e.Places = append(e.Places, Place{A: x.kinds[0], B: x.kinds[1], Zone: zone, Last: at})
	return &e.Places[len(e.Places)-1]
}
