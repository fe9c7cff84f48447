package client

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/testing/protocmp"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		call  func(*Client) (*workloadresizerv1.Hold, error)
		tries int
		// calls is how many calls it takes if none fails.
		calls int
	}{
		"restore": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.Restore(t.Context(), &workloadresizerv1.RestoreRequest{})
			return response.GetHold(), err
		}, 4, 1},
		"pause": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.Pause(t.Context(), &workloadresizerv1.PauseRequest{})
			return response.GetHold(), err
		}, 4, 1},
		// A resume has no request_id, so only its answer may be lost.
		"resume": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.Resume(t.Context(), &workloadresizerv1.ResumeRequest{})
			if err != nil {
				return nil, err
			}
			return response.GetReleased()[0], nil
		}, 1, 1},
		"get": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.GetHold(t.Context(), held.GetScope(), held.GetKind())
			return response.GetHold(), err
		}, 4, 1},
		"list": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.ListHolds(t.Context(), "")
			if err != nil {
				return nil, err
			}
			return response.GetHolds()[1], nil
		}, 4, 2},
	} {
		t.Run(name, func(t *testing.T) {
			server := &holdServer{}
			c := dialServices(t, func(s *grpc.Server) { workloadresizerv1.RegisterHoldServiceServer(s, server) })
			got, err := tc.call(c)
			if diff := cmp.Diff(held, got, protocmp.Transform()); diff != "" || err != nil || server.calls != tc.calls {
				t.Errorf("%d calls, want %d; %v; (-want +got):\n%s", server.calls, tc.calls, err, diff)
			}
			server.calls, server.ids, server.fail = 0, nil, notReady()
			if _, err := tc.call(c); Reason(err) != "RATIOS_NOT_READY" || server.calls != tc.tries {
				t.Errorf("%v after %d tries, want %d", err, server.calls, tc.tries)
			}
			if len(server.ids) != 1 {
				t.Errorf("the tries have different request_ids: %v", server.ids)
			}
		})
	}
}
