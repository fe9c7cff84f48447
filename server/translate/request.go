package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"google.golang.org/protobuf/proto"
)

// RequestDigest returns 16 hexadecimal digits that identify a request and its author, so that its
// ID cannot be used for another request; empty if the request has no ID.
func RequestDigest(request interface {
	proto.Message
	GetRequestId() string
}, author string) string {
	if request.GetRequestId() == "" {
		return ""
	}
	content, _ := proto.MarshalOptions{Deterministic: true}.Marshal(request) // It was received as a message.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", author, request.ProtoReflect().Descriptor().FullName(), content))
	return hex.EncodeToString(sum[:8])
}
