package ratios

import (
	"slices"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Paths that an update mask may have.
const (
	pathCPUPerf    = "cpu_perf"
	pathMemoryPerf = "memory_perf"
	pathExpireTime = "expire_time"
)

// ratioPatch reads what an update changes. prefix goes before the names of its
// fields in the violations.
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
				reject("ratio.expire_time", "must be in the future; leave it out, and name it in update_mask, for no end")
			}
		}
		p.ExpireTime = &end
	}
	return p, wrong
}

// maskPaths returns the fields to change, or what is wrong with the mask.
func maskPaths(request *workloadresizerv1.UpdateRatioRequest) (paths []string, problem string) {
	r, mask := request.GetRatio(), request.GetUpdateMask()
	if len(mask.GetPaths()) > 0 {
		for _, path := range mask.GetPaths() {
			if path != pathCPUPerf && path != pathMemoryPerf && path != pathExpireTime {
				if mask.IsValid(r) {
					return nil, "names " + path + ", which is output only; only cpu_perf, memory_perf and expire_time can be changed"
				}
				return nil, "names what a ratio does not have; only cpu_perf, memory_perf and expire_time can be changed"
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
		return nil, "must name what to change where no field of the ratio is set"
	}
	return paths, ""
}
