package ratios

import (
	"context"
	"errors"
	"strconv"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// defaultChanges is how many changes a page has at most where the request does not
// say.
const defaultChanges = 100

// ListRatioChanges implements the RatioService.
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
			return nil, rpcerror.BadField("page_token", err.Error())
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
		response.NextPageToken = changesToken(changes[len(changes)-1].Number)
	}
	return response, nil
}

// changesToken is the token of the page after a change.
func changesToken(last int64) string { return "before-" + strconv.FormatInt(last, 10) }

func changesBefore(token string) (int64, error) {
	number, isToken := strings.CutPrefix(token, "before-")
	last, err := strconv.ParseInt(number, 10, 64)
	if !isToken || err != nil || last < 1 {
		return 0, errors.New("must be the next_page_token of the page before")
	}
	return last, nil
}
