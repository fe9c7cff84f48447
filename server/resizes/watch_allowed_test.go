package resizes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// yes allows everything. It answers within the fake time of the test.
type yes struct{}

func (yes) Create(context.Context, *authorizationv1.SubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	return &authorizationv1.SubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
}

func TestWatchAllowed(t *testing.T) {
	t.Run("a watch outlives its certificate by at most a minute", aWatchOutlivesItsCertificateByAtMostAMinute)
}

func aWatchOutlivesItsCertificateByAtMostAMinute(t *testing.T) {
	for name, every := range map[string]time.Duration{"quiet": time.Hour, "busy": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, life := time.Now(), 5*time.Minute
				leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "ann"}, NotAfter: begin.Add(life)}
				ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{}, AuthInfo: credentials.TLSInfo{
					State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}},
				}})
				f := complete()
				service := &Service{config: Config{Viewer: servertest.All, Watches: streams.NewWatches()}, history: f}
				info := &grpc.StreamServerInfo{FullMethod: workloadresizerv1.ResizeService_WatchResizes_FullMethodName}
				allowed := access.New(access.Config{Rights: yes{}})
				ended := make(chan error, 1)
				go func() {
					ended <- allowed.AuthenticateStream(service, &servertest.Arrived{Ctx: ctx}, info, func(_ any, s grpc.ServerStream) error {
						return allowed.AuthorizeStream(service, s, info, func(_ any, s grpc.ServerStream) error {
							return service.WatchResizes(&workloadresizerv1.WatchResizesRequest{}, &resizeStream{ServerStream: s, ctx: s.Context()})
						})
					})
				}()
				for {
					select {
					case <-time.After(every):
						f.Update(changelog.Place{}, changelog.Change[query.Resized]{Key: "a", Item: &query.Resized{}})
						continue
					case err := <-ended:
						servertest.CheckError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID", "the client certificate expired")
					}
					break
				}
				if late := time.Since(begin) - life; late <= 0 || late > time.Minute {
					t.Errorf("the watch outlived the certificate by %v", late)
				}
			})
		})
	}
}
