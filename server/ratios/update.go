package ratios

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

// UpdateRatio implements workloadresizerv1.RatioServiceServer.
func (s *Service) UpdateRatio(ctx context.Context, request *workloadresizerv1.UpdateRatioRequest) (*workloadresizerv1.UpdateRatioResponse, error) {
	updated, w, err := s.update(ctx, request, []*workloadresizerv1.UpdateRatioRequest{request}, func(int) string { return "" })
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.UpdateRatioResponse{Ratio: updated[0], Change: w.change, Impact: w.impact}, nil
}

// BatchUpdateRatios implements workloadresizerv1.RatioServiceServer.
func (s *Service) BatchUpdateRatios(ctx context.Context, request *workloadresizerv1.BatchUpdateRatiosRequest) (*workloadresizerv1.BatchUpdateRatiosResponse, error) {
	if wrong := batchFaults(request.GetRequests()); len(wrong) > 0 {
		return nil, rpcerror.BadFields(wrong)
	}
	updated, w, err := s.update(ctx, request, request.GetRequests(), batchPrefix)
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.BatchUpdateRatiosResponse{Ratios: updated, Change: w.change, Impact: w.impact}, nil
}

func batchPrefix(i int) string { return fmt.Sprintf("requests[%d].", i) }

// batchFaults returns the faults of requests as parts of a batch.
func batchFaults(requests []*workloadresizerv1.UpdateRatioRequest) []rpcerror.Violation {
	var wrong []rpcerror.Violation
	first := map[string]int{}
	for i, r := range requests {
		if r.GetValidateOnly() || r.GetReason() != "" || r.GetAuthor() != "" || r.GetAllowImplausible() {
			wrong = append(wrong, rpcerror.Violation{Field: fmt.Sprintf("requests[%d]", i), Problem: "must not have validate_only, reason, author or allow_implausible: set them in the batch, for all requests"})
		}
		nodeType := r.GetRatio().GetNodeType()
		if before, twice := first[nodeType]; twice {
			wrong = append(wrong, rpcerror.Violation{Field: batchPrefix(i) + "ratio.node_type", Problem: fmt.Sprintf("is also set in requests[%d]", before)})
			continue
		}
		first[nodeType] = i
	}
	return wrong
}

// update updates ratios, either all of them or none. In errors, prefix precedes the fields of
// each request.
func (s *Service) update(ctx context.Context, whole writeRequest, requests []*workloadresizerv1.UpdateRatioRequest, prefix func(int) string) ([]*workloadresizerv1.Ratio, *writeResult, error) {
	if err := s.writable(); err != nil {
		return nil, nil, err
	}
	var wrong []rpcerror.Violation
	patches := make([]override.Patch, len(requests))
	now := time.Now()
	for i, r := range requests {
		patch, problems := ratioPatch(r, prefix(i), now)
		patch.Default = s.withoutOverride
		patches[i], wrong = patch, append(wrong, problems...)
	}
	w, err := s.write(ctx, whole, wrong, func(r override.Request) (*override.Change, error) {
		made, err := s.config.Overrides.Update(ctx, patches, r)
		if field, ok := errors.AsType[*override.FieldError](err); ok {
			if of := slices.IndexFunc(patches, func(p override.Patch) bool { return p.NodeType == field.NodeType }); of >= 0 {
				err = &partError{prefix(of), field}
			}
		}
		return made, err
	})
	if err != nil {
		return nil, nil, err
	}
	updated := make([]*workloadresizerv1.Ratio, len(patches))
	for i, p := range patches {
		updated[i] = globalRatio(w.table, p.NodeType, true)
	}
	return updated, w, nil
}

// withoutOverride returns the ratio of a node type in the other sources. The table cannot be
// used: its override may be gone by the time the change is written.
func (s *Service) withoutOverride(nodeType string) (ratios.Ratio, bool) {
	return s.config.Store.LookupWithout(override.Source, nodeType)
}
