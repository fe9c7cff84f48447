package overrides

import (
	"context"
	"strconv"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// changesSizes are the numbers of changes on a page.
var changesSizes = paging.Sizes{Default: 100, Max: 1000}

// ListOverrideChanges implements workloadresizerv1.OverrideServiceServer.
func (s *Service) ListOverrideChanges(_ context.Context, request *workloadresizerv1.ListOverrideChangesRequest) (*workloadresizerv1.ListOverrideChangesResponse, error) {
	page, err := paging.Of(request, changesSizes)
	if err != nil {
		return nil, err
	}
	if err := s.enabled(); err != nil {
		return nil, err
	}
	query := override.Page{NodeType: request.GetNodeType(), Size: changesSizes.Max + 1}
	if page.After != "" {
		if query.Before, err = strconv.ParseInt(page.After, 10, 64); err != nil || query.Before < 1 {
			return nil, paging.TokenError(paging.ErrToken)
		}
	}
	changes, _, err := s.config.Overrides.Changes(query)
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.OverridesNotReady, err)
	}
	response := &workloadresizerv1.ListOverrideChangesResponse{}
	response.Changes, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.OverrideChange) bool) {
		for i := range changes {
			if !yield(strconv.FormatInt(changes[i].Number, 10), changeMessage(&changes[i])) {
				return
			}
		}
	})
	return response, nil
}
