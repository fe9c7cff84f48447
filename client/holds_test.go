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
	}{
		"restore": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.Restore(t.Context(), &workloadresizerv1.RestoreRequest{})
			return response.GetHold(), err
		}, 1},
		"pause": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.Pause(t.Context(), &workloadresizerv1.PauseRequest{})
			return response.GetHold(), err
		}, 1},
		"resume": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.Resume(t.Context(), &workloadresizerv1.ResumeRequest{})
			if err != nil {
				return nil, err
			}
			return response.GetReleased()[0], nil
		}, 1},
		"list": {func(c *Client) (*workloadresizerv1.Hold, error) {
			response, err := c.ListHolds(t.Context())
			if err != nil {
				return nil, err
			}
			return response.GetHolds()[0], nil
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			server := &holdServer{}
			c := dialServices(t, func(s *grpc.Server) {
				workloadresizerv1.RegisterPauseServiceServer(s, server)
				workloadresizerv1.RegisterResizeServiceServer(s, server)
			})
			got, err := tc.call(c)
			if diff := cmp.Diff(held, got, protocmp.Transform()); diff != "" || err != nil {
				t.Error(diff, err)
			}
			// Writes are not retried, because only the answer may be lost.
			server.calls, server.fail = 0, notReady()
			if _, err := tc.call(c); Reason(err) != "RATIOS_NOT_READY" || server.calls != tc.tries {
				t.Errorf("%v after %d tries, want %d", err, server.calls, tc.tries)
			}
		})
	}
}
