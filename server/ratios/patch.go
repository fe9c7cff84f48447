package ratios

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

// ratioPatch reads what an update changes. In violations, prefix precedes the names of its
// fields.
func ratioPatch(request *workloadresizerv1.UpdateRatioRequest, prefix string, now time.Time) (override.Patch, []rpcerror.Violation) {
	var wrong []rpcerror.Violation
	reject := func(field, problem string) {
		wrong = append(wrong, rpcerror.Violation{Field: prefix + field, Problem: problem})
	}
	r := request.GetRatio()
	p := override.Patch{NodeType: r.GetNodeType(), Etag: r.GetEtag(), AllowMissing: request.GetAllowMissing()}
	paths, problem := maskPaths(request)
	if problem != "" {
		reject("update_mask", problem)
	}
	for _, perf := range []struct {
		path  string
		value float64
		into  **float64
	}{{pathCPUPerf, r.GetCpuPerf(), &p.CPUPerf}, {pathMemoryPerf, r.GetMemoryPerf(), &p.MemoryPerf}} {
		if !slices.Contains(paths, perf.path) {
			continue
		}
		if perf.value == 0 {
			reject("ratio."+perf.path, "must be above 0")
		}
		*perf.into = &perf.value
	}
	if slices.Contains(paths, pathExpireTime) {
		var end time.Time
		if t := r.GetExpireTime(); t != nil {
			if end = t.AsTime().Truncate(time.Second); t.CheckValid() != nil || !end.After(now) {
				reject("ratio.expire_time", "must be in the future; for no expiry, leave it unset and name it in update_mask")
			}
		}
		p.ExpireTime = &end
	}
	return p, wrong
}

// maskPaths returns the fields to change, or the problem with the mask.
func maskPaths(request *workloadresizerv1.UpdateRatioRequest) (paths []string, problem string) {
	r, mask := request.GetRatio(), request.GetUpdateMask()
	if len(mask.GetPaths()) > 0 {
		for _, path := range mask.GetPaths() {
			if path != pathCPUPerf && path != pathMemoryPerf && path != pathExpireTime {
				if mask.IsValid(r) {
					return nil, "names " + path + ", which cannot be changed; only cpu_perf, memory_perf and expire_time can be changed"
				}
				return nil, "names a field that a ratio does not have; only cpu_perf, memory_perf and expire_time can be changed"
			}
		}
		return mask.GetPaths(), ""
	}
	if r.GetCpuPerf() != 0 {
		paths = append(paths, pathCPUPerf)
	}
	if r.GetMemoryPerf() != 0 {
		paths = append(paths, pathMemoryPerf)
	}
	if r.GetExpireTime() != nil {
		paths = append(paths, pathExpireTime)
	}
	if len(paths) == 0 {
		return nil, "must name the fields to change, because no field of the ratio is set"
	}
	return paths, ""
}
