package config

import (
	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
)

// readPace reads how quickly pods are resized that can wait. The least rate keeps typos from stopping
// all resizes unnoticed.
func readPace(p *policy.Pace) func(reader.Value) {
	const rate = "must be a number from 0.001 to 100000, such as 20, or 0 for no limit"
	const freed = "must be a number from 0 to 1, such as 0.25 or 25%, where 0 means no limit"
	return func(v reader.Value) {
		v.Fields(reader.Known{
			"resizesPerSecond": optional(&p.ResizesPerSecond, rate, func(f float64) bool { return f == 0 || f >= 0.001 && f <= 100_000 }),
			"freedPerHour":     percentage(&p.FreedPerHour, freed, within(0, 1)),
		})
	}
}
