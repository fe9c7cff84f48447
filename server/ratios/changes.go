package ratios

import (
	"context"
	"strconv"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// defaultChanges is the page size if the request does not set one.
const defaultChanges = 100

// ListRatioChanges implements workloadresizerv1.RatioServiceServer.
func (s *Service) ListRatioChanges(_ context.Context, request *workloadresizerv1.ListRatioChangesRequest) (*workloadresizerv1.ListRatioChangesResponse, error) {
	if err := s.enabled(); err != nil {
		return nil, err
	}
	page := override.Page{NodeType: request.GetNodeType(), Size: int(request.GetPageSize())}
	if page.Size == 0 {
		page.Size = defaultChanges
	}
	if token := request.GetPageToken(); token != "" {
		var err error
		if page.Before, err = changesBefore(token); err != nil {
			return nil, rpcerror.BadField("page_token", "is invalid: "+err.Error())
		}
	}
	changes, more, err := s.config.Overrides.Changes(page)
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.OverridesNotReady, err)
	}
	response := &workloadresizerv1.ListRatioChangesResponse{}
	for i := range changes {
		response.Changes = append(response.Changes, ratioChange(&changes[i]))
	}
	if more {
		response.NextPageToken = paging.Token(strconv.FormatInt(changes[len(changes)-1].Number, 10))
	}
	return response, nil
}

// changesBefore returns the last change on the page before a token.
func changesBefore(token string) (int64, error) {
	number, err := paging.Last(token)
	if err != nil {
		return 0, err
	}
	last, err := strconv.ParseInt(number, 10, 64)
	if err != nil || last < 1 {
		return 0, paging.ErrToken
	}
	return last, nil
}
