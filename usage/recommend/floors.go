package recommend

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Floors are the least sizes of which smaller ones were seen to be too small; 0 means that none was.
type Floors struct{ Request, Limit Amounts }

// floors returns the floors of a container on the baseline.
func (d *Demand) floors(now time.Time) (f Floors) {
	for i := range d.types {
		speed := d.speeds[i]
		request, limit := d.types[i].Floors.Highest(history.CPU, now)
		f.Request.CPU, f.Limit.CPU = max(f.Request.CPU, scale(request, speed.CPU)), max(f.Limit.CPU, scale(limit, speed.CPU))
		request, limit = d.types[i].Floors.Highest(history.Memory, now)
		f.Request.Memory, f.Limit.Memory = max(f.Request.Memory, scale(request, speed.Memory)), max(f.Limit.Memory, scale(limit, speed.Memory))
	}
	return f
}

// highest returns the highest usage of memory of the last days on the baseline; 0 if none is known.
func (d *Demand) highest(now time.Time) (usage int64) {
	for i := range d.types {
		usage = max(usage, scale(d.types[i].Peaks.Highest(now), d.speeds[i].Memory))
	}
	return usage
}
