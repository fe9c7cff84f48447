package access

import (
	"context"
	"net"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Pprof is what is served over HTTP and needs a right, as the table has it: the
// paths below it.
const Pprof = "/debug/pprof"

// Guard lets only those ask a handler who have the rights that the table names for
// the method. Callers say who they are as on the gRPC API: by a client certificate,
// or by the header "Authorization: Bearer TOKEN". Others are told what they lack, with
// status 401, 403, 429 or 503.
func (a *Access) Guard(method string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := a.known(asCall(r), method)
		if err == nil {
			var m Method
			if m, err = find(method); err == nil {
				err = a.authorize(ctx, &m, nil)
			}
		}
		if err != nil {
			denied := status.Convert(err)
			http.Error(w, denied.Message(), httpStatus(denied.Code()))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// asCall returns the context that a call of the gRPC API by the same caller has.
func asCall(r *http.Request) context.Context {
	from := &peer.Peer{}
	if host, err := net.ResolveTCPAddr("tcp", r.RemoteAddr); err == nil {
		from.Addr = host
	}
	if r.TLS != nil {
		from.AuthInfo = credentials.TLSInfo{State: *r.TLS}
	}
	return metadata.NewIncomingContext(peer.NewContext(r.Context(), from), metadata.MD{"authorization": r.Header.Values("Authorization")})
}

func httpStatus(code codes.Code) int {
	switch code {
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
