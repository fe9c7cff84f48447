package ratios

import (
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// checkPlausible returns an error if updates make a ratio implausible and none of them allows
// it: an update of that node type, or of the baseline that it is compared with. A ratio that
// was implausible before, for the same reason, needs no confirmation.
func (s *Service) checkPlausible(after *ratios.Table, requests []*workloadresizerv1.UpdateRatioRequest, prefix func(int) string) error {
	before := s.config.Store.Table().Implausible()
	for _, found := range after.Implausible() {
		if slices.ContainsFunc(before, func(b ratios.Implausible) bool { return b == found }) {
			continue
		}
		concerns := func(r *workloadresizerv1.UpdateRatioRequest) bool {
			nodeType := r.GetRatio().GetNodeType()
			return nodeType == found.NodeType || nodeType == found.Baseline
		}
		allows := func(r *workloadresizerv1.UpdateRatioRequest) bool { return concerns(r) && r.GetAllowImplausible() }
		if of := slices.IndexFunc(requests, concerns); of >= 0 && !slices.ContainsFunc(requests, allows) {
			return &implausibleError{found, prefix(of) + "allow_implausible"}
		}
	}
	return nil
}
