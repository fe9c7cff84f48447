package server

import (
	"encoding/base64"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// pageTokenVersion begins every page token of pods. It goes on with the last pod of
// the page, so that it is good at every replica and after a restart.
const pageTokenVersion = "1 "

func pageToken(last types.NamespacedName) string {
	return base64.RawURLEncoding.EncodeToString([]byte(pageTokenVersion + last.String()))
}

func parsePageToken(token string) (types.NamespacedName, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(token)
	pod, isToken := strings.CutPrefix(string(text), pageTokenVersion)
	namespace, name, isPod := strings.Cut(pod, string(types.Separator))
	if err != nil || !isToken || !isPod || namespace == "" || name == "" {
		return types.NamespacedName{}, errors.New("it is none that this server has given")
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
