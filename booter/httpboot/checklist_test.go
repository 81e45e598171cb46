package httpboot

import "testing"

// What an HTTP server for network boot must do beside single requests, in words; with
// TestChecklistOfRequests: go test -v -run Checklist ./booter/...
func TestChecklistOfServing(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"keep-alive, whatever was answered":                          keepAlive,
		"Content-Type: application/efi, vnd.efi-iso, vnd.efi-img":    types,
		"URLs are built from the address reached, never from Host":   whatResolveIsAsked,
		"what is denied looks like what does not exist":              deniedLooksLikeAbsent,
		"no Server header, none that is empty; requests have bounds": serverBounds,
		"a body that is announced and does not come holds nothing":   bodies,
	} {
		t.Run(name, test)
	}
}
