package overrides

import (
	"slices"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Paths that are allowed in an update mask.
const (
	pathCPUPerf    = "cpu_perf"
	pathMemoryPerf = "memory_perf"
	pathExpireTime = "expire_time"
)

// patchOf reads what an update changes. In violations, prefix precedes the names of its
// fields.
func patchOf(request *workloadresizerv1.UpdateOverrideRequest, prefix string, now time.Time) (override.Patch, []rpcerror.Violation) {
	var wrong []rpcerror.Violation
	reject := func(field, problem string) {
		wrong = append(wrong, rpcerror.Violation{Field: prefix + field, Problem: problem})
	}
	o := request.GetOverride()
	p := override.Patch{NodeType: o.GetNodeType(), Etag: o.GetEtag(), AllowMissing: request.GetAllowMissing(), AllowNewNodeType: request.GetAllowNewNodeType()}
	paths, problem := maskPaths(request)
	if problem != "" {
		reject("update_mask", problem)
	}
	for _, perf := range []struct {
		path  string
		value *float64
		into  **float64
	}{{pathCPUPerf, o.CpuPerf, &p.CPUPerf}, {pathMemoryPerf, o.MemoryPerf, &p.MemoryPerf}} {
		if !slices.Contains(paths, perf.path) {
			continue
		}
		if perf.value == nil {
			reject("override."+perf.path, "must be set, because update_mask names it")
		}
		*perf.into = perf.value
	}
	if slices.Contains(paths, pathExpireTime) {
		var end time.Time
		if t := o.GetExpireTime(); t != nil {
			if end = t.AsTime().Truncate(time.Second); t.CheckValid() != nil || !end.After(now) {
				reject("override.expire_time", "must be in the future; for no expiry, leave it unset and name it in update_mask")
			}
		}
		p.ExpireTime = &end
	}
	return p, wrong
}

// maskPaths returns the fields to change, or the problem with the mask.
func maskPaths(request *workloadresizerv1.UpdateOverrideRequest) (paths []string, problem string) {
	o, mask := request.GetOverride(), request.GetUpdateMask()
	if len(mask.GetPaths()) > 0 {
		for _, path := range mask.GetPaths() {
			if path != pathCPUPerf && path != pathMemoryPerf && path != pathExpireTime {
				if mask.IsValid(o) {
					return nil, "names " + path + ", which cannot be changed; only cpu_perf, memory_perf and expire_time can be changed"
				}
				return nil, "names a field that an override does not have; only cpu_perf, memory_perf and expire_time can be changed"
			}
		}
		return mask.GetPaths(), ""
	}
	if o.CpuPerf != nil {
		paths = append(paths, pathCPUPerf)
	}
	if o.MemoryPerf != nil {
		paths = append(paths, pathMemoryPerf)
	}
	if o.GetExpireTime() != nil {
		paths = append(paths, pathExpireTime)
	}
	if len(paths) == 0 {
		return nil, "must name the fields to change, because no field of the override is set"
	}
	return paths, ""
}
