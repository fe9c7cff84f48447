package overrides

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// UpdateOverride implements workloadresizerv1.OverrideServiceServer.
func (s *Service) UpdateOverride(ctx context.Context, request *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.UpdateOverrideResponse, error) {
	w, err := s.update(ctx, request, []*workloadresizerv1.UpdateOverrideRequest{request}, func(int) string { return "" })
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.UpdateOverrideResponse{Override: w.overrides[0], Ratio: w.ratios[0], Change: w.change, Impact: w.impact}, nil
}

// BatchUpdateOverrides implements workloadresizerv1.OverrideServiceServer.
func (s *Service) BatchUpdateOverrides(ctx context.Context, request *workloadresizerv1.BatchUpdateOverridesRequest) (*workloadresizerv1.BatchUpdateOverridesResponse, error) {
	if wrong := batchFaults(request.GetRequests()); len(wrong) > 0 {
		return nil, rpcerror.BadFields(wrong)
	}
	w, err := s.update(ctx, request, request.GetRequests(), batchPrefix)
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.BatchUpdateOverridesResponse{Overrides: w.overrides, Ratios: w.ratios, Change: w.change, Impact: w.impact}, nil
}

func batchPrefix(i int) string { return fmt.Sprintf("requests[%d].", i) }

// batchFaults returns the faults of requests as parts of a batch.
func batchFaults(requests []*workloadresizerv1.UpdateOverrideRequest) []rpcerror.Violation {
	var wrong []rpcerror.Violation
	first := map[string]int{}
	for i, r := range requests {
		if r.GetValidateOnly() || r.GetReason() != "" || r.GetAuthor() != "" || r.GetAllowImplausible() || r.GetRequestId() != "" {
			wrong = append(wrong, rpcerror.Violation{Field: fmt.Sprintf("requests[%d]", i), Problem: "must not have validate_only, reason, author, allow_implausible or request_id: set them in the batch, for all requests"})
		}
		nodeType := r.GetOverride().GetNodeType()
		if before, twice := first[nodeType]; twice {
			wrong = append(wrong, rpcerror.Violation{Field: batchPrefix(i) + "override.node_type", Problem: fmt.Sprintf("is also set in requests[%d]", before)})
			continue
		}
		first[nodeType] = i
	}
	return wrong
}

// update updates overrides, either all of them or none. In errors, prefix precedes the fields of
// each request.
func (s *Service) update(ctx context.Context, whole writeRequest, requests []*workloadresizerv1.UpdateOverrideRequest, prefix func(int) string) (*writeResult, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	w := &write{request: whole}
	patches := make([]override.Patch, len(requests))
	now := time.Now()
	for i, r := range requests {
		patch, problems := patchOf(r, prefix(i), now)
		patch.Default = s.withoutOverride
		patches[i], w.wrong = patch, append(w.wrong, problems...)
		w.about = append(w.about, seen{patch.NodeType, r.GetRatioEtag()})
	}
	w.change = func(r override.Request) (*override.Change, error) {
		made, err := s.config.Overrides.Update(ctx, patches, r)
		if field, ok := errors.AsType[*override.FieldError](err); ok {
			if of := slices.IndexFunc(patches, func(p override.Patch) bool { return p.NodeType == field.NodeType }); of >= 0 {
				err = &partError{prefix(of), field}
			}
		}
		return made, err
	}
	return s.write(ctx, w)
}

// withoutOverride returns the ratio of a node type in the other sources. The table cannot be
// used: its override may be gone by the time the change is written.
func (s *Service) withoutOverride(nodeType string) (ratios.Ratio, bool) {
	return s.config.Store.LookupWithout(override.Source, nodeType)
}
