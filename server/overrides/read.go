package overrides

import (
	"context"
	"maps"
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// overridesSizes are the numbers of overrides on a page.
var overridesSizes = paging.Sizes{Default: 500, Max: 1000}

// ListOverrides implements workloadresizerv1.OverrideServiceServer.
func (s *Service) ListOverrides(_ context.Context, request *workloadresizerv1.ListOverridesRequest) (*workloadresizerv1.ListOverridesResponse, error) {
	page, err := paging.Of(request, overridesSizes)
	if err != nil {
		return nil, err
	}
	overrides, err := s.inEffect()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListOverridesResponse{}
	response.Overrides, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Override) bool) {
		for _, nodeType := range slices.Sorted(maps.Keys(overrides)) {
			if nodeType > page.After && !yield(nodeType, message(nodeType, overrides[nodeType])) {
				return
			}
		}
	})
	return response, nil
}

// GetOverride implements workloadresizerv1.OverrideServiceServer.
func (s *Service) GetOverride(_ context.Context, request *workloadresizerv1.GetOverrideRequest) (*workloadresizerv1.GetOverrideResponse, error) {
	overrides, err := s.inEffect()
	if err != nil {
		return nil, err
	}
	o, ok := overrides[request.GetNodeType()]
	if !ok {
		return nil, overrideError(&override.NoOverrideError{NodeType: request.GetNodeType()})
	}
	return &workloadresizerv1.GetOverrideResponse{Override: message(request.GetNodeType(), o)}, nil
}
