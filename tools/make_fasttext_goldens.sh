#!/bin/sh
# Trains three tiny language models with Debian's fasttext (0.9.2) and writes them, and what it predicts
# with them, into the folder $1 (tests/golden/data/fasttext).
set -eu
cd "$1"
cat >train <<'END'
__label__en the ship came home at dawn and the men were glad to see the land again
__label__en we have no bread in the house but there is water in the well
__label__en she said that it would rain before night and so it did
__label__en the old road goes over the hill and down to the river
__label__en a good book is worth more than a bad day
__label__de das Schiff kam am Morgen nach Hause und die Leute waren froh das Land zu sehen
__label__de wir haben kein Brot im Haus aber es gibt Wasser im Brunnen
__label__de sie sagte dass es vor der Nacht regnen werde und so kam es
__label__de die alte Straße geht über den Berg und hinab zum Fluss
__label__fr le navire est rentré à l'aube et les hommes étaient contents de revoir la terre
__label__fr nous n'avons pas de pain dans la maison mais il y a de l'eau dans le puits
__label__fr elle disait qu'il allait pleuvoir avant la nuit et il a plu
__label__ru корабль вернулся на рассвете и люди были рады снова увидеть землю
__label__ru у нас нет хлеба в доме но в колодце есть вода
END
cat >questions <<'END'
the men were glad
wir haben Wasser und Brot
il y a du pain
в доме нет воды
xyz zzz
__label__en __label__xx hello

END
for loss in hs softmax ova; do
  fasttext supervised -input train -output $loss -dim 4 -lr 0.8 -epoch 800 -minn 2 -maxn 3 -bucket 64 \
    -minCount 1 -wordNgrams 2 -loss $loss -thread 1 -seed 3 >/dev/null 2>&1
  echo "model $loss.bin"
  fasttext predict-prob $loss.bin questions -1 | paste -d '\n' questions - | sed '1~2s/^/text /; 2~2s/__label__/\n/g; s/ $//' |
    sed '/^$/d'
done >predictions.txt
rm -f train questions ./*.vec
