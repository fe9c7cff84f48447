package overrides

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func sentAgain(t *testing.T, x *suite) {
	const id, otherID = "2f1c4f2a-6a1d-4b2e-9d58-0d9f4f8f0a11", "2f1c4f2a-6a1d-4b2e-9d58-0d9f4f8f0a12"
	for _, tc := range []struct {
		name string
		send func(*server, string) (*workloadresizerv1.OverrideChange, error)
	}{
		{"update", func(s *server, id string) (*workloadresizerv1.OverrideChange, error) {
			request := cpu("n4", 3)
			request.RequestId = id
			response, err := s.UpdateOverride(s.ctx, request)
			return response.GetChange(), err
		}},
		{"batch", func(s *server, id string) (*workloadresizerv1.OverrideChange, error) {
			response, err := s.BatchUpdateOverrides(s.ctx, &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 3), cpu("n2d", 2)}, RequestId: id})
			return response.GetChange(), err
		}},
		{"delete", func(s *server, id string) (*workloadresizerv1.OverrideChange, error) {
			response, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", RequestId: id})
			return response.GetChange(), err
		}},
		{"rollback", func(s *server, id string) (*workloadresizerv1.OverrideChange, error) {
			response, err := s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(0)), RequestId: id})
			return response.GetChange(), err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := x.serve(t)
			s.must(t, cpu("n4", 2))
			first, err := tc.send(s, id)
			if err != nil || first.GetNumber() != 2 || first.GetRequestId() != id {
				t.Fatalf("changed %v, %v", first, err)
			}
			// What others change in between stays.
			s.must(t, cpu("n4", 4))
			for name, to := range map[string]*server{"to the same replica": s, "to another replica": x.replica(t)} {
				again, err := tc.send(to, id)
				if diff := cmp.Diff(first, again, protocmp.Transform()); err != nil || diff != "" {
					t.Errorf("%s: %v\n%s", name, err, diff)
				}
			}
			if r := s.get("n4"); r.GetCpuPerf() != 4 {
				t.Errorf("in effect: %v", r)
			}
			if other, err := tc.send(s, otherID); err != nil || other.GetNumber() != 4 {
				t.Errorf("with another ID: %v, %v", other, err)
			}
		})
	}
	t.Run("another request, or another caller, needs an ID of its own", func(t *testing.T) {
		s := x.serve(t)
		withID := func(request *workloadresizerv1.UpdateOverrideRequest) *workloadresizerv1.UpdateOverrideRequest {
			request.RequestId = id
			return request
		}
		ann, bob := access.NewContext(t.Context(), access.Caller{Name: "ann"}), access.NewContext(t.Context(), access.Caller{Name: "bob"})
		if _, err := s.UpdateOverride(ann, withID(cpu("n4", 3))); err != nil {
			t.Fatal(err)
		}
		for name, send := range map[string]func() error{
			"another value":     func() error { _, err := s.UpdateOverride(ann, withID(cpu("n4", 2))); return err },
			"another node type": func() error { _, err := s.UpdateOverride(ann, withID(cpu("n2d", 3))); return err },
			"another caller":    func() error { _, err := s.UpdateOverride(bob, withID(cpu("n4", 3))); return err },
			"another method": func() error {
				_, err := s.DeleteOverride(ann, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", RequestId: id})
				return err
			},
		} {
			t.Log(name)
			servertest.CheckError(t, send(), codes.InvalidArgument, "INVALID_ARGUMENT", "request_id is the ID of another request, which made change 1")
		}
	})
	t.Run("only a UUID is accepted", func(t *testing.T) {
		s := x.serve(t)
		client := workloadresizerv1.NewOverrideServiceClient(servertest.Connect(t, s))
		_, err := client.DeleteOverride(t.Context(), &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", RequestId: "mine"})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "request_id")
	})
}
